"""Grading a small class: scores, statuses, files, and a second run."""

import csv
import errno
import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from crews import Threads
from sqlalchemy.exc import OperationalError

from autograder import grade as grading
from autograder.classroom import Classroom, failure
from autograder.demo import DUE, fill_in, invent, make_class, right_answers
from autograder.errors import CourseError, MachineFault
from autograder.exercise import find_exercise
from autograder.feedback import write_feedback
from autograder.grade import digest_of, grade, harmless
from autograder.report import write_report
from autograder.results import Result, ResultStore

NAME = "01-self-attention"
EXERCISE = find_exercise(NAME)
WRONG = next(a for a in EXERCISE.misconceptions if a.piece == "softmax")
GRADED_ONLY = next(
    answer
    for answer in EXERCISE.misconceptions
    if answer.seen == "graded" and answer.piece == "shuffle_both_ways"
)


def hand_in(classroom, student, answers, written="An answer.", name=None):
    """Hand in the released notebook with some cells filled in."""
    released = classroom.root / "release" / NAME / f"{EXERCISE.notebook}.ipynb"
    notebook = fill_in(nbformat.read(released, 4), answers, written)
    path = classroom.root / "submitted" / student / NAME / (name or released.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


@pytest.fixture(scope="module")
def classroom(tmp_path_factory):
    """A graded class of seven."""
    room = Classroom.create(tmp_path_factory.mktemp("class"))
    room.release(EXERCISE, DUE)
    right = right_answers(EXERCISE)
    hand_in(room, "right", right)
    hand_in(room, "wrong", right | {"softmax": WRONG.source})
    hand_in(room, "graded-only", right | {GRADED_ONLY.piece: GRADED_ONLY.source})
    hand_in(room, "letter", right | {"projections": 'projections = "a"'})
    hand_in(room, "untouched", {}, written="")
    hand_in(room, "renamed", right, name="homework.ipynb")
    hand_in(room, "nothing", right).rename(
        room.root / "submitted" / "nothing" / NAME / "notes.txt"
    )
    grade(room, NAME, workers=2)
    return room


def rows(classroom):
    with (classroom.root / "grades.csv").open(encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_scores(classroom):
    scores = {name: float(row["score"]) for name, row in rows(classroom).items()}
    assert scores["right"] == 92
    assert scores["untouched"] == 0
    assert scores["letter"] == 90
    assert scores["graded-only"] == 84
    assert scores["wrong"] < 84


def test_the_written_answer_waits_for_its_teacher(classroom):
    waiting = {name: row["needs_manual_grade"] for name, row in rows(classroom).items()}
    assert waiting["right"] == "True"
    assert waiting["untouched"] == "False"


def test_the_csv_is_rfc_4180_with_a_column_for_each_cell(classroom):
    raw = (classroom.root / "grades.csv").read_bytes()
    assert raw.count(b"\r\n") == raw.count(b"\n")
    assert set(EXERCISE.points) <= set(rows(classroom)["right"])


def test_one_status_line_for_each_submission(classroom):
    status = classroom_status(classroom)
    assert len(status) == 7
    assert status["right"]["status"] == "graded" and status["right"]["seconds"] > 0
    assert status["renamed"]["status"] == "graded with notes"
    (note,) = status["renamed"]["notes"]
    assert note == "homework.ipynb was taken for self-attention.ipynb"
    assert status["nothing"]["status"] == "failed"
    assert "found no notebook at all" in status["nothing"]["why"]


def test_a_second_run_grades_nothing(classroom):
    done = []
    before = (classroom.root / "grades.csv").read_bytes()
    grade(classroom, NAME, on_done=done.append)
    assert done == []
    assert (classroom.root / "grades.csv").read_bytes() == before


def test_each_mistake_is_told_its_sentence(classroom):
    store = ResultStore(classroom.root, NAME)
    told = {r.student: [m["sentence"] for m in r.mistakes] for r in store.all()}
    assert WRONG.sentence in told["wrong"]
    assert GRADED_ONLY.sentence in told["graded-only"]
    assert told["right"] == []


def test_feedback_tells_and_hides(classroom):
    write_feedback(classroom, NAME)
    pages = {
        s: (classroom.root / "feedback" / s / NAME / "self-attention.html").read_text()
        for s in ("right", "wrong", "letter", "untouched", "nothing")
    }
    assert "92 <span" in pages["right"]
    assert WRONG.sentence[1:40] in pages["wrong"]
    assert "the vector is not cut"[1:] in pages["letter"]
    assert "could not be graded" in pages["nothing"]
    hidden = hidden_lines()
    assert len(hidden) > 50
    for page in pages.values():
        assert not [line for line in hidden if line in page]


def hidden_lines():
    text = (EXERCISE.folder / "exercise.md").read_text(encoding="utf-8")
    regions = re.findall(
        r"### BEGIN HIDDEN TESTS\n(.*?)### END HIDDEN TESTS", text, re.S
    )
    lines = [line.strip() for region in regions for line in region.splitlines()]
    return [line for line in lines if len(line) > 25 and "check.hidden" not in line]


def test_a_script_in_an_answer_stays_text(classroom):
    answers = right_answers(EXERCISE) | {"softmax": "'<script>alert(1)</script>'"}
    hand_in(classroom, "hostile", answers, written="<img src=x onerror=alert(1)>")
    grade(classroom, NAME, students=["hostile"])
    write_feedback(classroom, NAME)
    page = classroom.root / "feedback" / "hostile" / NAME / "self-attention.html"
    text = page.read_text(encoding="utf-8")
    assert "<script>" not in text and "<img" not in text
    assert "&lt;img src=x" in text


def test_the_report_counts_the_class(classroom):
    text = write_report(classroom, NAME).read_text(encoding="utf-8")
    assert "7 submissions" in text or "8 submissions" in text
    assert WRONG.sentence[1:40] in text
    assert "found no notebook at all" in text


def test_a_changed_submission_is_graded_again(classroom):
    hand_in(classroom, "letter", right_answers(EXERCISE))
    done = []
    grade(classroom, NAME, on_done=done.append)
    assert [result.student for result in done] == ["letter"]
    assert float(rows(classroom)["letter"]["score"]) == 92


def test_every_byte_of_a_submission_counts(tmp_path):
    room = SimpleNamespace(root=tmp_path)
    file = tmp_path / "submitted" / "ada" / "hw1" / "hw1.ipynb"
    file.parent.mkdir(parents=True)
    digests = set()
    for end in ("a", "b", "bb"):
        file.write_text("x" * 30_000_000 + end)
        digests.add(digest_of(room, "hw1", "ada"))
    assert len(digests) == 3


def test_a_long_name_has_a_result(tmp_path):
    store = ResultStore(tmp_path, "hw1")
    for student in ("x" * 240, "x" * 239 + "y"):
        store.save(Result(student, "hw1", "", notes=["\udcff"]))
        assert store.load(student).student == student
    assert len(list(store.all())) == 2


def test_an_unknown_student_is_refused(classroom):
    with pytest.raises(CourseError, match="Nothing is handed in by nobody"):
        grade(classroom, NAME, students=["nobody"])


@pytest.mark.parametrize(
    "fault",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OperationalError("update", {}, Exception("database or disk is full")),
    ],
    ids=["the disk is full", "the gradebook is full"],
)
def test_what_the_machine_could_not_do_is_tried_again(classroom, monkeypatch, fault):
    student = type(fault).__name__
    hand_in(classroom, student, right_answers(EXERCISE))
    monkeypatch.setattr(grading.time, "sleep", lambda seconds: None)

    def fails(*_):
        raise fault

    with monkeypatch.context() as patch:
        patch.setattr(grading, "prepared", fails)
        grade(classroom, NAME, students=[student], crew=Threads())
        assert classroom_status(classroom)[student]["status"] == "failed"
    done = []
    grade(classroom, NAME, on_done=done.append)
    assert [result.student for result in done] == [student]
    assert float(rows(classroom)[student]["score"]) == 92
    shutil.rmtree(classroom.root / "submitted" / student)


def classroom_status(classroom):
    path = classroom.root / f"status-{NAME}.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line["student"]: line for line in lines}


def test_what_the_log_says_of_the_machine_is_no_fault_of_the_answer():
    for line in ("OSError: [Errno 28] No space left", "sqlite3.OperationalError: full"):
        assert isinstance(failure({"log": f"x\n    {line}\n"}), MachineFault)
    said = "CourseError: Expected hw1.ipynb; found This machine could not start.ipynb"
    assert not isinstance(failure({"log": said}), MachineFault)


def test_a_regrade_that_was_killed_keeps_what_it_knew(tmp_path):
    store = ResultStore(tmp_path, "hw1")
    assert store.begin("ada", {"old": 3.0, "read": []}) == {"old": 3.0, "read": []}
    assert store.was_killed("ada")
    assert store.begin("ada", {"old": 5.0, "read": []})["old"] == 3.0
    store.end("ada")
    assert not store.was_killed("ada")


@pytest.mark.parametrize("kept", [b"", b"null", b"[1]", b"\xff\xfe", b'{"old": 1'])
def test_what_is_kept_and_broken_is_as_if_it_were_not_there(tmp_path, kept):
    store = ResultStore(tmp_path, "hw1")
    about = {"old": None, "read": [], "at": "now", "digest": ""}
    store.begin("ada", about)
    store.save(Result("ada", "hw1", "x"))
    for path in (
        store._begun("ada"),
        store.path("ada"),
        store.folder / "fingerprints.json",
    ):
        path.write_bytes(kept)
    assert store.load("ada") is None and store.fingerprints() == {}
    assert store.begin("ada", about) == about


def test_a_change_of_a_score_is_noted_once(classroom):
    path = classroom.root / "course" / NAME / "history.jsonl"
    path.write_text('{"student": "ada", "old"')  # a power cut
    for _ in range(2):  # killed behind it, and run again
        grading.remember(classroom, NAME, "right", {"old": 3.0, "at": "then"})
    first, second = path.read_text().splitlines()
    assert first == '{"student": "ada", "old"'
    assert json.loads(second) == {
        "student": "right",
        "old": 3.0,
        "new": 92.0,
        "at": "then",
    }
    path.unlink()


def test_an_assignment_that_is_not_released_whole_is_not_graded(classroom):
    released = classroom.root / "release" / NAME / f"{EXERCISE.notebook}.ipynb"
    away = released.rename(released.with_suffix(".away"))
    with pytest.raises(CourseError, match="is not released whole"):
        grade(classroom, NAME)
    away.rename(released)


def test_a_file_that_cannot_be_read_ends_nothing(tmp_path, monkeypatch):
    room = SimpleNamespace(root=tmp_path)
    (tmp_path / "submitted" / "ada" / "hw1").mkdir(parents=True)
    (tmp_path / "submitted" / "ada" / "hw1" / "closed.txt").write_text("x")
    before = digest_of(room, "hw1", "ada")
    refuse = lambda *_, **__: (_ for _ in ()).throw(PermissionError(13, "no"))
    monkeypatch.setattr(Path, "open", refuse)
    assert digest_of(room, "hw1", "ada") != before


@pytest.mark.parametrize("value", ["=1+1", "+1", "-1", "@x", "\tx"])
def test_a_formula_is_made_harmless(value):
    assert harmless(value) == "'" + value
    assert harmless(-1.5) == -1.5


def test_the_demonstration_class_holds_every_kind():
    learners = invent(EXERCISE)
    assert 35 <= len(learners) <= 45
    kinds = {learner.kind for learner in learners}
    assert {"right", "blank", "half done", "late", "two attempts", "mistakes"} <= kinds
    given = {source for learner in learners for source in learner.answers.values()}
    assert {answer.source for answer in EXERCISE.misconceptions} <= given
    assert {answer.source for answer in EXERCISE.alternatives} <= given


def test_a_class_without_a_release_is_told(tmp_path):
    with pytest.raises(CourseError, match="is not released in"):
        make_class(Classroom.create(tmp_path / "empty"), EXERCISE)
