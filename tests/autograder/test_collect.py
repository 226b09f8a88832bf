"""Collecting from folders, zips and downloads: what is taken, and what is refused."""

import os
import shutil
import stat
import subprocess
import sys
import time
import zipfile
from datetime import UTC, datetime
from io import BytesIO

import pytest
from typer.testing import CliRunner

from autograder.classroom import Classroom
from autograder.cli import app
from autograder.collect import collect, identities
from autograder.errors import CourseError
from autograder.roster import read_roster

NAME, NOTEBOOK = "01-self-attention", "self-attention.ipynb"
MARCH = datetime(2021, 3, 10, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A class whose assignment is released by name only: quick to make."""
    with pytest.MonkeyPatch.context() as patch:  # alembic is slow, and plays no part
        patch.setattr("nbgrader.api.get_alembic_version", lambda: "none")
        return made_class(tmp_path_factory)


def made_class(tmp_path_factory):
    room = Classroom.create(tmp_path_factory.mktemp("model") / "class")
    with room.gradebook() as gradebook:
        due = datetime(2021, 3, 12, 23, 59)
        gradebook.update_or_create_assignment(NAME, duedate=due)
        gradebook.update_or_create_assignment("02-other")
    (room.root / "release" / NAME).mkdir()
    for name in (NOTEBOOK, "requirements.txt"):
        (room.root / "release" / NAME / name).write_text("{}")
    return room


@pytest.fixture
def room(model, tmp_path):
    shutil.copytree(model.root, tmp_path / "class")
    return Classroom.open(tmp_path / "class")


def zipped(path, files, day=10):
    """Write a zip; a file is its content, or its ZipInfo with its content."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, (2021, 3, day, 12, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return path


def inner(files, day=10):
    """Give the bytes of a zip."""
    return zipped(BytesIO(), files, day).getvalue()


def in_folder(path, files):
    for name, content in files.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        os.utime(file, (MARCH.timestamp(), MARCH.timestamp()))
    return path


def submitted(room, stamps=False):
    """What lies in submitted/, by student and path, without the times."""
    root = room.root / "submitted"
    found = {p.relative_to(root): p for p in root.rglob("*") if p.is_file()}
    return {
        str(name).replace(f"/{NAME}/", "/"): path.read_text()
        for name, path in found.items()
        if stamps or name.name != "timestamp.txt"
    }


def reasons(report):
    return [f"{one.what}: {one.why}" for one in report.refused]


LAYOUTS = {
    "canvas": {
        f"lovelaceada_12345_67890_{NOTEBOOK}": "ada",
        "lovelaceada_12345_67891_data.csv": "1",
        f"hopper_grace_LATE_23456_67900_{NOTEBOOK}": "grace",
    },
    "moodle folders": {
        f"Ada Lovelace_11_assignsubmission_file_/{NOTEBOOK}": "ada",
        "Ada Lovelace_11_assignsubmission_file_/data/x.csv": "1",
        f"Grace Hopper_12_assignsubmission_file_/{NOTEBOOK}": "grace",
    },
    "moodle flat": {
        f"Ada Lovelace_11_assignsubmission_file_{NOTEBOOK}": "ada",
        f"Grace Hopper_12_assignsubmission_file_{NOTEBOOK}": "grace",
    },
    "folders": {f"ada/{NOTEBOOK}": "ada", f"Grace Hopper/{NOTEBOOK}": "grace"},
    "nbgrader": {
        f"ada/{NAME}/{NOTEBOOK}": "ada",
        f"ada/{NAME}/timestamp.txt": "2021-03-01 10:00:00 UTC",
        "ada/02-other/other.ipynb": "other",
        f"grace/{NAME}/{NOTEBOOK}": "grace",
    },
    "names": {f"ada_{NOTEBOOK}": "ada", f"kim_minji_{NOTEBOOK}": "minji"},
    "zips": {
        "ada.zip": inner({NOTEBOOK: "ada", "data/x.csv": "1"}),
        f"kim_minji_{NAME}.zip": inner({f"work/{NOTEBOOK}": "minji"}),
    },
}
EXPECTED = {
    "canvas": {
        f"lovelaceada/{NOTEBOOK}": "ada",
        "lovelaceada/data.csv": "1",
        f"hopper_grace/{NOTEBOOK}": "grace",
    },
    "moodle folders": {
        f"ada-lovelace/{NOTEBOOK}": "ada",
        "ada-lovelace/data/x.csv": "1",
        f"grace-hopper/{NOTEBOOK}": "grace",
    },
    "moodle flat": {
        f"ada-lovelace/{NOTEBOOK}": "ada",
        f"grace-hopper/{NOTEBOOK}": "grace",
    },
    "folders": {f"ada/{NOTEBOOK}": "ada", f"grace-hopper/{NOTEBOOK}": "grace"},
    "nbgrader": {f"ada/{NOTEBOOK}": "ada", f"grace/{NOTEBOOK}": "grace"},
    "names": {f"ada/{NOTEBOOK}": "ada", f"kim_minji/{NOTEBOOK}": "minji"},
    "zips": {
        f"ada/{NOTEBOOK}": "ada",
        "ada/data/x.csv": "1",
        f"kim_minji/{NOTEBOOK}": "minji",
    },
}


@pytest.mark.parametrize("wrap", ["", "downloads/"], ids=["bare", "in a folder"])
@pytest.mark.parametrize("form", ["zip", "folder"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(room, tmp_path, layout, form, wrap):
    files = {wrap + name: content for name, content in LAYOUTS[layout].items()}
    for left in (
        "__MACOSX/ada/._x.ipynb",
        ".DS_Store",
        f".ipynb_checkpoints/{NOTEBOOK}",
    ):
        files[left] = "left by a machine"
    if form == "zip":
        source = zipped(tmp_path / "all.zip", files)
    else:
        source = in_folder(tmp_path / "all", files)
    report = collect(room, NAME, source)
    assert reasons(report) == []
    assert submitted(room) == EXPECTED[layout]
    assert sorted(report.new) == sorted(
        {name.split("/")[0] for name in submitted(room)}
    )


def test_names_are_made_into_ids_and_told(room, tmp_path):
    called = "Émilie  du Châtelet_7_assignsubmission_file_"
    korean = "김 민지_8_assignsubmission_file_"
    quoted = "Pat O'Brien_9_assignsubmission_file_"
    files = {f"{name}/{NOTEBOOK}": "x" for name in (called, korean, quoted)}
    report = collect(room, NAME, zipped(tmp_path / "all.zip", files))
    assert set(report.derived) == {"émilie-du-châtelet", "김-민지", "pat-obrien"}
    assert report.derived["김-민지"] == "김 민지 (8)"
    assert identities(room, NAME)["김-민지"] == {"name": "김 민지", "moodle_id": "8"}


def test_what_macos_writes_is_read(room, tmp_path):
    name = "Zoe\u0301 X_3_assignsubmission_file_/ve\u0301lo.csv"
    raw = name.encode().decode("cp437")  # UTF-8, but the zip does not say so
    source = zipped(tmp_path / "all.zip", {"x" * len(name.encode()): "x"})
    data = source.read_bytes().replace(b"x" * len(name.encode()), name.encode())
    source.write_bytes(data)
    assert zipfile.ZipFile(source).namelist() == [raw]
    assert collect(room, NAME, source).new == ["zo\u00e9-x"]
    assert submitted(room) == {"zo\u00e9-x/v\u00e9lo.csv": "x"}


def test_nameless_students_are_told_apart(room, tmp_path):
    canvas = {f"anon_a1b2c_7_{NOTEBOOK}": "1", f"LATE_anon_d3e4f_8_{NOTEBOOK}": "2"}
    moodle = {f"Participant_{n}_assignsubmission_file_{NOTEBOOK}": "3" for n in (5, 6)}
    report = collect(room, NAME, zipped(tmp_path / "all.zip", canvas | moodle))
    students = ["anon-a1b2c", "anon-d3e4f", "participant-5", "participant-6"]
    assert report.new == students


# --- newest attempts ------------------------------------------------------------------

ATTEMPTS = {
    "the number of the resubmission": (
        {f"a_1_100_{NOTEBOOK}": "old", "a_1_200_self-attention-1.ipynb": "new"},
        {NOTEBOOK: "new"},
    ),
    "ten is more than nine": (
        {
            "a_1_100_self-attention-9.ipynb": "old",
            "a_1_200_self-attention-10.ipynb": "new",
        },
        {NOTEBOOK: "new"},
    ),
    "an old file does not stay": (
        {
            f"a_1_100_{NOTEBOOK}": "old",
            "a_1_101_data.csv": "old",
            "a_LATE_1_200_self-attention-1.ipynb": "new",
        },
        {NOTEBOOK: "new"},
    ),
    "all files of the newest": (
        {
            f"a_1_100_{NOTEBOOK}": "old",
            "a_1_101_data.csv": "old",
            "a_1_200_self-attention-1.ipynb": "new",
            "a_1_201_data-1.csv": "new",
            "a_1_202_extra.csv": "new",
        },
        {NOTEBOOK: "new", "data.csv": "new", "extra.csv": "new"},
    ),
    "one attempt, only some of its files again": (
        {"a_1_200_self-attention-1.ipynb": "new", "a_1_201_extra.csv": "new"},
        {NOTEBOOK: "new", "extra.csv": "new"},
    ),
    "a helper that came again": (
        {"a_1_200_self-attention-1.ipynb": "new", "a_1_201_helper-1.py": "new"},
        {NOTEBOOK: "new", "helper.py": "new"},
    ),
    "a number that is part of the name": (
        {f"a_1_100_{NOTEBOOK}": "new", "a_1_101_data-1.csv": "x"},
        {NOTEBOOK: "new", "data-1.csv": "x"},
    ),
    "the same name twice": (
        {f"a_1_100_{NOTEBOOK}": "old", f"a_1_200_{NOTEBOOK}": "new"},
        {NOTEBOOK: "new"},
    ),
    "zips that came again": (
        {
            "a_1_100_work.zip": inner({NOTEBOOK: "old", "old.csv": "old"}),
            "a_1_200_work-1.zip": inner({NOTEBOOK: "new"}),
        },
        {NOTEBOOK: "new"},
    ),
}


@pytest.mark.parametrize("case", ATTEMPTS)
def test_canvas_numbers_attempts(room, tmp_path, case):
    files, expected = ATTEMPTS[case]
    collect(room, NAME, zipped(tmp_path / "all.zip", files))
    assert submitted(room) == {f"a/{name}": text for name, text in expected.items()}


def test_parts_that_end_in_a_number_are_no_attempts(room, tmp_path):
    for part in ("part-1.ipynb", "part-2.ipynb"):
        (room.root / "release" / NAME / part).write_text("{}")
    files = {"a_1_100_part-1.ipynb": "one", "a_1_101_part-2.ipynb": "two"}
    collect(room, NAME, zipped(tmp_path / "all.zip", files))
    assert submitted(room) == {"a/part-1.ipynb": "one", "a/part-2.ipynb": "two"}


def test_a_folder_and_a_zip_of_one_student(room, tmp_path):
    source = in_folder(tmp_path / "all", {f"ada/{NOTEBOOK}": "old", "ada/x": "old"})
    zipped(source / "ada.zip", {NOTEBOOK: "new"})
    report = collect(room, NAME, source)
    assert submitted(room) == {f"ada/{NOTEBOOK}": "new"}
    assert sorted(report.older) == [f"ada/{NOTEBOOK}", "ada/x"]
    os.utime(source / "ada.zip", (MARCH.timestamp(), MARCH.timestamp()))
    (why,) = reasons(collect(room, NAME, source))
    assert "no date says which of 2 attempts is the newest" in why


def test_a_new_attempt_replaces_the_old_one_whole(room, tmp_path):
    files = {f"ada/{NOTEBOOK}": "old", "ada/data.csv": "old"}
    collect(room, NAME, zipped(tmp_path / "1.zip", files, day=9))
    report = collect(room, NAME, zipped(tmp_path / "2.zip", {f"ada/{NOTEBOOK}": "new"}))
    assert submitted(room) == {f"ada/{NOTEBOOK}": "new"}
    assert report.new == ["ada"]


def test_an_older_download_does_not_win(room, tmp_path):
    collect(room, NAME, zipped(tmp_path / "2.zip", {f"ada/{NOTEBOOK}": "new"}))
    old = zipped(tmp_path / "1.zip", {f"ada/{NOTEBOOK}": "old"}, day=9)
    assert "a newer attempt is there" in reasons(collect(room, NAME, old))[0]
    assert submitted(room) == {f"ada/{NOTEBOOK}": "new"}


def test_an_older_download_of_canvas_does_not_win_without_a_date(room, tmp_path):
    late = {"day": 14}  # after the due date, and not marked: the date is no help
    new = zipped(tmp_path / "2.zip", {f"ada_1_200_{NOTEBOOK}": "new"}, **late)
    old = zipped(tmp_path / "1.zip", {f"ada_1_100_{NOTEBOOK}": "old"}, **late)
    collect(room, NAME, new)
    assert stamp(room) is None
    assert "a newer attempt is there" in reasons(collect(room, NAME, old))[0]
    assert submitted(room) == {f"ada/{NOTEBOOK}": "new"}
    assert collect(room, NAME, new).unchanged == ["ada"]


def test_again_changes_nothing(room, tmp_path):
    files = LAYOUTS["canvas"] | {"b_9_9_work.zip": inner({NOTEBOOK: "b"})}
    source = zipped(tmp_path / "all.zip", files)
    collect(room, NAME, source)
    kept = room.root / "submitted", room.root / "course"
    before = {p: p.stat().st_mtime_ns for root in kept for p in root.rglob("*/*")}
    time.sleep(0.01)
    report = collect(room, NAME, source)
    assert report.new == [] and len(report.unchanged) == 3
    after = {p: p.stat().st_mtime_ns for p in before if p.is_file()}
    assert after.items() <= before.items()
    assert {p for root in kept for p in root.rglob("*/*")} == set(before)


# --- times ----------------------------------------------------------------------------


def stamp(room, student="ada"):
    path = room.root / "submitted" / student / NAME / "timestamp.txt"
    return path.read_text() if path.exists() else None


def test_the_time_is_that_of_the_newest_file(room, tmp_path):
    source = in_folder(tmp_path / "all", {f"ada/{NOTEBOOK}": "x", "ada/y": "y"})
    os.utime(source / "ada" / "y", (0, MARCH.timestamp() - 5000))
    collect(room, NAME, source)
    assert stamp(room) == "2021-03-10 12:00:00 UTC"


def test_a_student_does_not_say_when_it_came(room, tmp_path):
    early = "2020-01-01 00:00:00 UTC"
    source = in_folder(tmp_path / "all", {f"ada/{NOTEBOOK}": "x"})
    in_folder(source, {"ada/timestamp.txt": early})
    in_folder(source, {f"cy/{NAME}/x": "x", f"cy/{NAME}/timestamp.txt": early})
    zipped(source / "ben.zip", {NOTEBOOK: "x", "timestamp.txt": early}, day=1)
    collect(room, NAME, source)
    assert stamp(room) == stamp(room, "cy") == "2021-03-10 12:00:00 UTC"
    assert stamp(room, "ben").startswith(str(datetime.now(UTC).year))


@pytest.mark.parametrize("text", ["2021-03-01 10:00:00 UTC", "2021-03-01 19:00:00 KST"])
def test_nbgraders_own_time_is_kept(room, tmp_path, text):
    files = {f"ada/{NAME}/{NOTEBOOK}": "x", f"ada/{NAME}/timestamp.txt": text}
    collect(room, NAME, zipped(tmp_path / "all.zip", files))
    assert stamp(room) == text


@pytest.mark.parametrize(
    ("mark", "day", "expected"),
    [
        ("", 10, "2021-03-10 12:00:00 UTC"),
        ("", 14, None),
        ("_LATE", 14, "2021-03-12 23:59:01 UTC"),
        ("_LATE", 10, None),
    ],
)
def test_canvas_knows_who_was_late(room, tmp_path, monkeypatch, mark, day, expected):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    files = {f"ada{mark}_1_2_{NOTEBOOK}": "x"}
    collect(room, NAME, zipped(tmp_path / "all.zip", files, day))
    assert stamp(room) == expected


def test_a_zip_without_dates(room, tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo(f"ada/{NOTEBOOK}"), "x")
    collect(room, NAME, tmp_path / "all.zip")
    assert stamp(room) is None


# --- what is refused ------------------------------------------------------------------


def info(name, mode=None, **more):
    made = zipfile.ZipInfo(name, (2021, 3, 10, 12, 0, 0))
    made.compress_type = zipfile.ZIP_DEFLATED
    if mode:
        made.create_system, made.external_attr = 3, mode << 16
    for key, value in more.items():
        setattr(made, key, value)
    return made


BAD = {
    "absolute": (info("/etc/cron.d/x"), b"x", "its path is absolute"),
    "a drive": (info("C:\\x.ipynb"), b"x", "its path is absolute"),
    "up": (info("ben/../../../x.ipynb"), b"x", "leads out of its folder"),
    "up, Windows": (info("ben\\..\\..\\x.ipynb"), b"x", "leads out of its folder"),
    "up, a folder": (info("../ben/"), b"", "leads out of its folder"),
    "a link": (info("ben/x", stat.S_IFLNK | 0o777), b"/etc/passwd", "is a link"),
    "a device": (info("ben/x", stat.S_IFCHR), b"", "is not a plain file"),
    "a pipe": (info("ben/x", stat.S_IFIFO), b"", "is not a plain file"),
    "a bomb": (info("ben/x.csv"), bytes(5_000_000), "times its size"),
    "large": (info("ben/x"), os.urandom(3_000_000), "is too large: 3 MB"),
    "bzip2": (info("ben/x", compress_type=zipfile.ZIP_BZIP2), b"x", "packed in a way"),
    "a line break": (info("ben/x\n.ipynb"), b"x", "cannot be seen"),
    "reversed text": (info("ben/\u202ex.ipynb"), b"x", "cannot be seen"),
    "a star": (info("ben/x*.ipynb"), b"x", "one of * ? [ ]"),
    "brackets": (info("be[n]/x.ipynb"), b"x", "one of * ? [ ]"),
    "long": (info("ben/" + "x" * 250), b"x", "is too long"),
    "deep": (info("ben/" + "x/" * 30 + "x"), b"x", "is too long"),
    "hidden": (info(f"ben/.{NOTEBOOK}"), b"x", "is hidden"),
    "nobody's": (info("readme.txt"), b"x", "does not say who"),
    "a zip that is none": (info("ben.zip"), b"x", "cannot be unpacked"),
    "a zip inside a zip": (
        info("ben.zip"),
        inner({"work.zip": inner({NOTEBOOK: "x"})}),
        "is a zip inside a zip",
    ),
    "up, in a zip": (info("ben.zip"), inner({"../../x": "x"}), "leads out of"),
    "a bomb in a zip": (
        info("ben.zip"),
        inner({"x.ipynb": bytes(5_000_000)}),
        "times its size",
    ),
    "a download in it": (
        info("all.zip"),
        inner({f"b_1_2_{NOTEBOOK}": "x", f"c_2_3_{NOTEBOOK}": "y"}),
        "is a download of many",
    ),
    "typed into Moodle": (
        info("Ben B_1_assignsubmission_onlinetext_/onlinetext.html"),
        b"x",
        "a text typed into Moodle",
    ),
    "typed into Canvas": (info("ben_1_text.html"), b"x", "typed into Canvas"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused_is_listed_and_the_rest_is_collected(
    room, tmp_path, monkeypatch, case
):
    monkeypatch.setattr("autograder.archive.FILE_BYTES", 2_000_000)
    bad, content, why = BAD[case]
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr(info(f"ada/{NOTEBOOK}"), "ada")
        archive.writestr(bad, content, compress_type=bad.compress_type)
        archive.writestr(info(f"zoe/{NOTEBOOK}"), "zoe")
    before = outside(tmp_path, room)
    report = collect(room, NAME, tmp_path / "all.zip")
    assert any(why in line for line in reasons(report)), reasons(report)
    assert submitted(room) == {f"ada/{NOTEBOOK}": "ada", f"zoe/{NOTEBOOK}": "zoe"}
    assert outside(tmp_path, room) == before


def outside(tmp_path, room):
    """All that lies beside submitted/ and the grader's own folder."""
    inside = (room.root / "submitted", room.root / "course")
    paths = (p for p in tmp_path.rglob("*") if not p.name.startswith("gradebook.db"))
    return {p for p in paths if not any(p == i or i in p.parents for i in inside)}


def damaged(path, files, change):
    data = bytearray(zipped(path, files).read_bytes())
    change(data)
    path.write_bytes(data)
    return path


def test_a_damaged_file_is_refused(room, tmp_path):
    files = {f"ada/{NOTEBOOK}": "ada", "ada/data.csv": "not this" * 40}

    def change(data):
        data[data.rindex(b"data.csv", 0, data.index(b"PK\x01\x02")) + 12] ^= 0xFF

    report = collect(room, NAME, damaged(tmp_path / "all.zip", files, change))
    assert "ada/data.csv: cannot be read" in reasons(report)[0]
    assert submitted(room) == {f"ada/{NOTEBOOK}": "ada"}


def test_an_encrypted_file_is_refused(room, tmp_path):
    def change(data):
        for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            data[data.rindex(mark) + offset] |= 1

    files = {f"ada/{NOTEBOOK}": "ada", f"ben/{NOTEBOOK}": "ben"}
    report = collect(room, NAME, damaged(tmp_path / "all.zip", files, change))
    assert reasons(report) == [f"ben/{NOTEBOOK}: is encrypted"]
    assert submitted(room) == {f"ada/{NOTEBOOK}": "ada"}


def test_links_and_pipes_in_a_folder_are_refused(room, tmp_path):
    source = in_folder(tmp_path / "all", {f"ada/{NOTEBOOK}": "ada", "x/y": "y"})
    (source / "ada" / "secret").symlink_to("/etc/passwd")
    (source / "ada" / "all").symlink_to("/etc")
    (source / "ben").symlink_to(source / "ada")
    os.mkfifo(source / "ada" / "pipe")
    with (source / "ada" / "sparse").open("wb") as file:
        file.truncate(3_000_000_000)
    report = collect(room, NAME, source)
    assert sorted(reasons(report)) == [
        "ada/all: is a link",
        "ada/pipe: is not a plain file",
        "ada/secret: is a link",
        "ada/sparse: is too large: 3000 MB",
        "ben: is a link",
    ]
    assert submitted(room) == {f"ada/{NOTEBOOK}": "ada", "x/y": "y"}


def test_too_many_files(room, tmp_path):
    files = {f"ada/{n:04}": "x" for n in range(600)} | {f"ada/{NOTEBOOK}": "ada"}
    report = collect(room, NAME, zipped(tmp_path / "all.zip", files))
    assert reasons(report) == ["ada: has 101 files over 500"]
    assert submitted(room)[f"ada/{NOTEBOOK}"] == "ada" and len(submitted(room)) == 500
    many = inner({f"{n}": "x" for n in range(10_001)})
    report = collect(room, NAME, zipped(tmp_path / "2.zip", {"ben.zip": many}))
    assert any("holds more than 10000 files" in line for line in reasons(report))


ALIKE = {
    "capitals": (f"Ada/{NOTEBOOK}", f"ada/{NOTEBOOK}"),
    "forms of Unicode": (f"zoe\u0301/{NOTEBOOK}", f"zo\u00e9/{NOTEBOOK}"),
    "spaces": (f"Ada Lovelace/{NOTEBOOK}", f"ada-lovelace/{NOTEBOOK}"),
    "one name": tuple(
        f"Kim Minji_{n}_assignsubmission_file_/{NOTEBOOK}" for n in (1, 2)
    ),
}


@pytest.mark.parametrize("case", ALIKE)
def test_two_who_would_share_a_folder_are_both_refused(room, tmp_path, case):
    files = dict.fromkeys(ALIKE[case], "x") | {f"ben/{NOTEBOOK}": "ben"}
    report = collect(room, NAME, zipped(tmp_path / "all.zip", files))
    assert len(report.refused) == 2
    assert all("another one would be" in one.why for one in report.refused)
    assert submitted(room) == {f"ben/{NOTEBOOK}": "ben"}


def test_one_who_would_land_in_anothers_folder_is_refused(room, tmp_path):
    (room.root / "submitted" / "Ada" / NAME).mkdir(parents=True)
    report = collect(room, NAME, zipped(tmp_path / "1.zip", {f"ada/{NOTEBOOK}": "x"}))
    assert reasons(report) == ["ada: would be ada, but there is Ada already"]


OTHERS = {
    "as nbgrader": f"zoe/ben/{NAME}/{NOTEBOOK}",
    "as Moodle": f"zoe/Ben B_2_assignsubmission_file_/{NOTEBOOK}",
    "as Canvas": f"zoe/ben_2_3_{NOTEBOOK}",
    "in Moodle": "zoe_1_assignsubmission_file_/ben_2_assignsubmission_file_/x.ipynb",
    "in a zip": "zoe.zip",
}


@pytest.mark.parametrize("case", OTHERS)
def test_nobody_hands_in_for_another(room, tmp_path, case):
    content = inner({f"ben/{NAME}/{NOTEBOOK}": "forged"}) if "zip" in case else "forged"
    files = {OTHERS[case]: content, f"ada/{NOTEBOOK}": "ada"}
    assert collect(room, NAME, zipped(tmp_path / "all.zip", files)).new == [
        "ada",
        "zoe",
    ]
    assert submitted(room)[f"ada/{NOTEBOOK}"] == "ada"


def test_a_students_folder_is_not_taken_for_one_around_all(room, tmp_path):
    """Alone in the source, and full of folders with the names of others."""
    files = {f"zoe/{name}/{NOTEBOOK}": "forged" for name in ("ada", "ben")}
    source = zipped(tmp_path / "all.zip", files)
    with room.gradebook() as gradebook:
        gradebook.update_or_create_student("zoe")
    report = collect(room, NAME, source)
    assert report.new == ["zoe"] and report.around == []


def test_one_number_with_two_names_is_refused(room, tmp_path):
    """As when somebody calls herself ``zoe_12345`` in Canvas."""
    files = {f"lovelaceada_12345_100_{NOTEBOOK}": "ada"}
    files[f"zoe_12345_777_200_{NOTEBOOK}"] = "forged"
    report = collect(room, NAME, zipped(tmp_path / "all.zip", files))
    assert "one number with several names: lovelaceada, zoe" in reasons(report)[0]
    assert submitted(room) == {}


def test_names_that_could_be_of_several_are_refused(room, tmp_path):
    files = {"kim_minji.ipynb": "1", "kim_jiwoo.ipynb": "2", "a_b_c.ipynb": "3"}
    report = collect(room, NAME, zipped(tmp_path / "all.zip", files))
    assert len(report.refused) == 3 and submitted(room) == {}


def test_a_file_where_a_folder_is_too(room, tmp_path):
    files = {f"ada/{NOTEBOOK}": "ada", "ada/x": "x", "ada/x/y": "y"}
    report = collect(room, NAME, zipped(tmp_path / "all.zip", files))
    assert reasons(report) == ["ada/x: is a file where a folder is too"]


def test_a_link_in_submitted_is_not_followed(room, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (room.root / "submitted" / "ada").symlink_to(tmp_path / "elsewhere")
    report = collect(room, NAME, zipped(tmp_path / "1.zip", {f"ada/{NOTEBOOK}": "x"}))
    assert "is a link: remove it" in reasons(report)[0]
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04cut off", b"<html>"])
def test_a_source_that_is_none(room, tmp_path, content):
    if content is not None:
        (tmp_path / "all.zip").write_bytes(content)
    with pytest.raises(CourseError, match=r"all\.zip"):
        collect(room, NAME, tmp_path / "all.zip")


def test_a_source_without_submissions(room, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(CourseError, match="no submission in it"):
        collect(room, NAME, tmp_path / "empty")
    for source in (room.root, room.root / "submitted", tmp_path):
        with pytest.raises(CourseError, match="lie in one another"):
            collect(room, NAME, source)


# --- rosters --------------------------------------------------------------------------

ROSTER = """id,Name,Email,Canvas ID,moodle_id
s1,"Lovelace, Ada",ada@example.org,12345,
s2,Grace Brewster Hopper,grace@example.org,,12
s3,김 민지,minji@example.org,,
"""


@pytest.fixture
def roster(tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text(ROSTER, encoding="utf-8-sig")
    return read_roster(path)


@pytest.mark.parametrize(
    ("name", "student"),
    [
        (f"whatever_12345_1_{NOTEBOOK}", "s1"),
        (f"hoppergracebrewster_77_1_{NOTEBOOK}", "s2"),
        (f"김민지_78_1_{NOTEBOOK}", "s3"),
        (f"Whoever_12_assignsubmission_file_/{NOTEBOOK}", "s2"),
        (f"Ada Lovelace_99_assignsubmission_file_/{NOTEBOOK}", "s1"),
        (f"s3/{NOTEBOOK}", "s3"),
        (f"minji@example.org/{NOTEBOOK}", "s3"),
        (f"Ada Lovelace/{NOTEBOOK}", "s1"),
        (f"lovelaceada_666_1_{NOTEBOOK}", None),
        (f"Somebody Else_5_assignsubmission_file_/{NOTEBOOK}", None),
        (f"nobody/{NOTEBOOK}", None),
    ],
)
def test_a_roster_tells_who_it_is(room, tmp_path, roster, name, student):
    report = collect(room, NAME, zipped(tmp_path / "all.zip", {name: "x"}), roster)
    if student:
        assert submitted(room) == {f"{student}/{NOTEBOOK}": "x"}
        assert report.derived == {}
    else:
        assert submitted(room) == {}
        assert "no line of roster.csv is" in reasons(report)[0]


def test_two_lines_that_fit_are_not_guessed(room, tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text("id;name\ns1;Kim Minji\ns2;Kim Minji\n")
    files = {f"Kim Minji_1_assignsubmission_file_/{NOTEBOOK}": "x"}
    source = zipped(tmp_path / "all.zip", files)
    (why,) = reasons(collect(room, NAME, source, read_roster(path)))
    assert "more than one line of roster.csv" in why


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"name\nAda\n",
        b"id\n../ada\n",
        b"id\na*\n",
        b"id\n.a\n",
        b"id\nada\nAda\n",
        b"id,name\n,Ada\n",
        b"id,name\ns1,\xff\xfe\n",
    ],
)
def test_a_roster_that_cannot_be_used(tmp_path, text):
    (tmp_path / "roster.csv").write_bytes(text)
    with pytest.raises(CourseError, match=r"roster\.csv"):
        read_roster(tmp_path / "roster.csv")


# --- killed, and the commands ---------------------------------------------------------


@pytest.mark.parametrize("step", range(6))
def test_a_run_that_is_killed_leaves_whole_attempts(room, tmp_path, monkeypatch, step):
    """Stopped before any rename or write; run again, it ends as if it never was."""
    old = {f"{s}/{name}": "old" for s in ("ada", "ben") for name in (NOTEBOOK, "x")}
    new = {f"{s}/{NOTEBOOK}": "new" for s in ("ada", "ben")}
    collect(room, NAME, zipped(tmp_path / "1.zip", old, day=9))
    steps, path = iter(range(99)), type(tmp_path)
    for name in ("rename", "write_bytes"):
        stopped = stopping(getattr(path, name), steps, step)
        monkeypatch.setattr(path, name, stopped)
    with pytest.raises(KeyboardInterrupt):
        collect(room, NAME, zipped(tmp_path / "2.zip", new))
    monkeypatch.undo()
    for student in ("ada", "ben"):
        folder = room.root / "submitted" / student
        there = folder / NAME if (folder / NAME).exists() else folder / f".{NAME}.old"
        texts = {p.read_text() for p in there.iterdir() if p.name != "timestamp.txt"}
        assert len(texts) == 1
    other = zipped(tmp_path / "3.zip", {f"cy/{NOTEBOOK}": "cy"})
    collect(room, NAME, other)  # another source mends it too
    assert {s.name for s in (room.root / "submitted").glob(f"*/{NAME}")} == {NAME}
    assert room.students(NAME) == ["ada", "ben", "cy"]
    collect(room, NAME, zipped(tmp_path / "2.zip", new))
    assert submitted(room) == new | {f"cy/{NOTEBOOK}": "cy"}


def stopping(real, steps, step):
    """Stand in for a function, and stop at one of its calls."""

    def stand_in(*arguments):
        if next(steps) == step:
            raise KeyboardInterrupt
        return real(*arguments)

    return stand_in


def course(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_the_command(room, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    files = {f"Ada Lovelace_1_assignsubmission_file_/{NOTEBOOK}": "x"}
    fine = zipped(tmp_path / "fine.zip", files)
    bad = zipped(tmp_path / "bad.zip", files | {"../evil": "x"})
    words = ("--class", room.root, "--assignment", NAME)
    run = course("collect", fine, *words)
    assert run.exit_code == 0, run.output
    assert "Ada Lovelace (1) is ada-lovelace" in run.output
    assert "1 collected, 0 unchanged, 0 refused" in run.output
    run = course("collect", bad, *words)
    assert run.exit_code == 1
    assert "refused: ../evil: its path leads out of its folder" in run.output
    run = course("collect", tmp_path / "none.zip", *words)
    assert isinstance(run.exception, CourseError)  # main() makes it exit code 2


@pytest.mark.stock
def test_the_stock_zip_collector_goes_on_working(room, tmp_path, bare_environment):
    archive = room.root / "downloaded" / NAME / "archive"
    archive.mkdir(parents=True)
    zipped(archive / "all.zip", {f"ada_{NOTEBOOK}": "ada", f"ben_{NOTEBOOK}": "ben"})
    named = r".*/(?P<student_id>\w+)_(?P<file_id>self-attention\.ipynb)"
    command = [sys.executable, "-m", "nbgrader", "zip_collect", NAME]
    command += [f"--FileNameCollectorPlugin.named_regexp={named}"]
    ended = subprocess.run(
        command, cwd=room.root, env=bare_environment, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    assert submitted(room) == {f"ada/{NOTEBOOK}": "ada", f"ben/{NOTEBOOK}": "ben"}
    again = zipped(tmp_path / "2.zip", {f"ada/{NOTEBOOK}": "newer"})
    assert collect(room, NAME, again).new == ["ada"]
    assert submitted(room)[f"ada/{NOTEBOOK}"] == "newer"
