"""A gradebook in PostgreSQL: the same marks, for several people at once."""

import contextlib
import csv
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import pytest
from test_formgrader import jupyter_server

from autograder import grade as grading
from autograder.classroom import Classroom
from autograder.database import REMEMBERED, address
from autograder.errors import CourseError
from autograder.grade import grade_rows
from autograder.results import ResultStore

NAME = "01-self-attention"
PASSWORD = "not in any file of the class"


class Server:
    """A PostgreSQL server of our own: a socket in a folder, and no network."""

    def __init__(self, programs: Path):
        self.programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self.user = {}
        if os.geteuid() == 0:  # which PostgreSQL refuses
            names = {entry.pw_name: entry for entry in pwd.getpwall()}
            other = names.get("postgres") or names["nobody"]
            os.chown(self.folder, other.pw_uid, other.pw_gid)
            ids = {"user": other.pw_uid, "group": other.pw_gid, "extra_groups": []}
            self.user = ids

    def run(self, program: str, *words: str) -> None:
        """Run one of the server's programs as its user."""
        subprocess.run(
            [self.programs / program, "-D", self.folder / "data", *words],
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=True,
            **self.user,
        )

    def start(self) -> None:
        """Make the server's files, if there are none, and start it."""
        if not (self.folder / "data").exists():
            secret = self.folder / "secret"
            secret.write_text(PASSWORD, encoding="utf-8")
            words = ["-U", "anna", "-A", "scram-sha-256", "--no-sync"]
            self.run("initdb", *words, "-E", "UTF8", f"--pwfile={secret}")
        options = f"-c unix_socket_directories={self.folder} -c listen_addresses=''"
        self.run("pg_ctl", "-w", "-l", "log", "-o", f"{options} -c fsync=off", "start")

    def stop(self) -> None:
        """Stop it as a power cut would."""
        self.run("pg_ctl", "-w", "-m", "immediate", "stop")


@pytest.fixture(scope="module")
def server():
    """Start Debian's PostgreSQL, or skip with a sentence that says how to get it."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        pytest.skip("No PostgreSQL. Install it: apt-get install postgresql")
    server = Server(found[-1].parent)
    try:
        server.start()
        yield server
        server.stop()
    finally:
        shutil.rmtree(server.folder)


@pytest.fixture(scope="module")
def password(tmp_path_factory):
    """Keep the password where PostgreSQL looks for it."""
    path = tmp_path_factory.mktemp("secret") / "pgpass"
    path.write_text(f"*:*:*:anna:{PASSWORD}\n", encoding="utf-8")
    path.chmod(0o600)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGPASSFILE", str(path))
        yield path


@pytest.fixture(scope="module")
def url(server):
    return f"postgresql://anna@/postgres?host={server.folder}"


@pytest.fixture(scope="module")
def two_rooms(url, password, class_of_five, tmp_path_factory):
    """Release a class with its gradebook in PostgreSQL; give its folder, and a copy."""
    one = tmp_path_factory.mktemp("postgres") / "one"
    told = course("release", NAME, "--class", one, "--db", url)
    assert told.wait() == 0, told.stderr.read()
    two = one.with_name("two")
    shutil.copytree(one, two)
    for root, students in ((one, "ada ben"), (two, "cy dan eve")):
        for student in students.split():
            shutil.copytree(
                class_of_five.root / "submitted" / student,
                root / "submitted" / student,
            )
    return Classroom.open(one), Classroom.open(two)


def course(*words):
    """Start ``course`` beside this process."""
    return subprocess.Popen(
        [sys.executable, "-m", "autograder.cli", *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def marks(room):
    """Give the cells of ``grades.csv`` by student, whoever graded them."""
    with (room.root / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    return {
        student: {name: cell for name, cell in row.items() if name != "status"}
        for student, row in rows.items()
    }


def test_two_graders_and_a_reader_at_once(two_rooms, graded_serially):
    alone = ("--workers", "1")
    running = [course("grade", "--class", room.root, *alone) for room in two_rooms]
    seen = [0]
    while any(process.poll() is None for process in running):
        seen.append(len(list(grade_rows(two_rooms[0], NAME))))
        time.sleep(1)
    assert [process.returncode for process in running] == [0, 1]  # eve has a note
    assert seen == sorted(seen) and len(set(seen)) > 1
    grading.write_grades(two_rooms[0], NAME)
    assert marks(two_rooms[0]) == marks(graded_serially)


def test_two_formgraders_use_it_at_once(two_rooms, bare_environment, tmp_path):
    environment = bare_environment | {"PGPASSFILE": os.environ["PGPASSFILE"]}
    with contextlib.ExitStack() as stack:
        rooms = []
        for room in two_rooms:
            log = tmp_path / f"{room.root.name}.log"
            running = jupyter_server(room.root, environment, log)
            rooms.append(stack.enter_context(running))

        def ask(which, path, **data):
            address, token = rooms[which]
            request = urllib.request.Request(
                f"{address}/formgrader/api/{path}",
                data=json.dumps(data).encode() if data else None,
                method="PUT" if data else "GET",
                headers={"Authorization": f"token {token}"},
            )
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)

        for which in (0, 1):
            found = ask(which, f"submissions/{NAME}")
            known = {row["student"] for row in found if row["autograded"]}
            assert {"ada", "ben", "cy", "dan"} <= known
        submitted = ask(0, f"submitted_notebooks/{NAME}/self-attention")
        (ada,) = [one["id"] for one in submitted if one["student"] == "ada"]
        grades = ask(0, f"grades?submission_id={ada}")
        (essay,) = [one for one in grades if one["name"] == "in-your-own-words"]
        ask(0, f"grade/{essay['id']}", manual_score=3.5)
        assert ask(1, f"grade/{essay['id']}")["manual_score"] == 3.5
        ask(1, f"grade/{essay['id']}", manual_score=None, extra_credit=None)
        assert ask(0, f"grade/{essay['id']}")["manual_score"] is None


def test_the_class_remembers_where_its_gradebook_is(two_rooms, url):
    room = two_rooms[0]
    assert not (room.root / "gradebook.db").exists()
    assert room.assignments() == [NAME]
    program = Path(sys.executable).with_name("nbgrader")
    told = subprocess.run(
        [program, "db", "student", "list"], cwd=room.root, capture_output=True
    )
    assert told.returncode == 0 and b"ada" in told.stdout
    assert Classroom.open(room.root, url) == room
    with pytest.raises(CourseError, match="marks do not move by themselves"):
        Classroom.open(room.root, url.replace("postgres?", "other?"))


def test_the_password_is_in_no_file_of_the_class(two_rooms):
    for path in two_rooms[0].root.rglob("*"):
        assert path.is_dir() or PASSWORD.encode() not in path.read_bytes()


def test_a_server_that_is_away_fails_no_submission(two_rooms, server, monkeypatch):
    room = two_rooms[0]
    store = ResultStore(room.root, NAME)
    before = grading.grade_alone(room.root, NAME, "ada")
    monkeypatch.setattr(grading.time, "sleep", lambda seconds: None)
    server.stop()
    try:
        with pytest.raises(CourseError, match="The gradebook does not answer"):
            grading.grade_alone(room.root, NAME, "ada")
        assert store.load("ada") is None
        with pytest.raises(CourseError, match="The gradebook does not answer"):
            room.assignments()
    finally:
        server.start()
    assert grading.grade_alone(room.root, NAME, "ada").cells == before.cells


def test_no_password_is_told(url, password, tmp_path, monkeypatch):
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    with pytest.raises(CourseError, match="PGPASSFILE"):
        Classroom.create(tmp_path / "class", url)
    assert not (tmp_path / "class" / REMEMBERED).exists()


def test_a_class_with_marks_in_a_file_keeps_them(url, graded_serially):
    with pytest.raises(CourseError, match="marks do not move by themselves"):
        Classroom.open(graded_serially.root, url)


@pytest.mark.parametrize(
    ("db", "told"),
    [
        ("postgresql://anna:secret@host/name", "holds a password"),
        ("postgresql://anna@host/name?password=secret", "holds a password"),
        ("postgresql://anna@host/", "names no database"),
        ("mysql://anna@host/name", "cannot be kept in mysql"),
        ("name", "is no address"),
        ("postgresql://anna@host:port/name", "is no address"),
    ],
)
def test_an_address_that_cannot_be_used(db, told):
    with pytest.raises(CourseError, match=told) as refused:
        address(db)
    assert "secret" not in str(refused.value)


def test_an_address_keeps_its_spelling():
    assert address("postgresql://a@h/n?host=/run") == (
        "postgresql+psycopg://a@h/n?host=/run"
    )
    assert address("postgresql+psycopg://a@h/n") == "postgresql+psycopg://a@h/n"
