"""Grade what lies in ``submitted/``: nbgrader's autograding, in parallel."""

import contextlib
import csv
import fcntl
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from nbgrader.api import MissingEntry
from sqlalchemy.exc import OperationalError

from autograder import mend
from autograder.classroom import FAULTS, Classroom, failure
from autograder.database import quicken
from autograder.errors import CourseError, MachineFault
from autograder.marks import columns, grade_rows
from autograder.results import (
    FAILED,
    NOTED,
    Result,
    ResultStore,
    on_disk,
    read_cells,
    whole_file,
)
from autograder.texts import printable, writable, writable_in
from autograder.workers import TRIES, Processes, spread

READ_AT_MOST = 1_000_000_000  # bytes of one file that count towards a digest
TAIL = 100_000  # bytes at the end of the history, where a killed run has written


def grade(
    classroom: Classroom,
    assignment: str,
    *,
    students: Iterable[str] | None = None,
    workers: int = 2,
    again: bool = False,
    on_done: Callable[[Result], None] = lambda result: None,
    crew=None,
) -> list[Result]:
    """Grade the submissions of one assignment that are new or changed.

    ``again`` grades all of them; ``crew`` takes the place of ``workers`` processes.
    Each result is on disk before the next submission of its worker starts. Returns
    the results of all students, sorted, without their cells; raises CourseError when
    a named student has handed nothing in, or the assignment is not released.
    """
    _require_release(classroom, assignment)
    submitted = classroom.students(assignment)
    if missing := sorted(set(students or []) - set(submitted)):
        raise CourseError(
            f"Nothing is handed in by {', '.join(missing)}. Expected a folder "
            f"{classroom.root / 'submitted' / missing[0] / assignment}."
        )
    store = ResultStore(classroom.root, assignment)
    chosen = sorted(set(students or submitted))
    with only_one(classroom):
        todo = [s for s in chosen if again or _is_new(classroom, store, s)]
        for result in _grade_all(
            classroom, assignment, todo, crew or Processes(workers)
        ):
            on_done(result)
        write_status(classroom, assignment)
        write_grades(classroom, assignment)
    return [replace(result, cells={}) for result in store.all()]


def _require_release(classroom: Classroom, assignment: str) -> None:
    """Raise CourseError when a notebook of the source has no released version."""
    released = classroom.root / "release" / assignment
    for name in notebooks_of(classroom, assignment):
        if not (released / name).is_file():
            raise CourseError(
                f"{assignment} is not released whole: expected {released / name}. "
                f"Release it with: course release {assignment} --class {classroom.root}"
            )


@contextlib.contextmanager
def only_one(classroom: Classroom):
    """Let one grader at a time into a class; raise CourseError if one is there."""
    path = classroom.root / "course" / ".grading"
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CourseError(
                f"{classroom.root} is being graded already. Wait until that has ended."
            ) from None
        yield


def _grade_all(classroom, assignment: str, students: list[str], crew):
    """Grade students with the help of many, and give each result as it is ready."""
    task = partial(grade_alone, classroom.root, assignment)
    for student, result in spread(task, students, crew):
        yield result or given_up(classroom, assignment, student)


def given_up(classroom: Classroom, assignment: str, student: str) -> Result:
    """Keep the result of a submission on which the grader itself ended, again."""
    digest = digest_of(classroom, assignment, student)
    why = f"the grader's process ended {TRIES + 1} times while it was graded"
    result = Result(student, assignment, digest, FAILED, why)
    store = ResultStore(classroom.root, assignment)
    store.save(result)
    store.end(student)
    return result


def grade_alone(root: Path, assignment: str, student: str) -> Result:
    """Grade one submission once nobody else does, such as a worker of a killed run.

    Raises CourseError, and keeps no result, when the gradebook does not answer.
    """
    store = ResultStore(root, assignment)
    place = store.folder / "locks" / student
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for pause in (1, 5, 0):
            result = grade_one(root, assignment, student)
            if result.digest or "OperationalError" not in result.why:
                return result
            time.sleep(pause)
        store.path(student).unlink(missing_ok=True)
        with Classroom.open(root).gradebook():  # raises when it is still away
            store.save(result)
        return result


def grade_one(root: Path, assignment: str, student: str) -> Result:
    """Grade one submission and keep its result; never raises for what is in it."""
    started = time.perf_counter()
    quicken()
    classroom = Classroom.open(root)
    store = ResultStore(classroom.root, assignment)
    result = Result(student, assignment, digest_of(classroom, assignment, student))
    try:
        if re.search(r"""[*?\[\]<>"\\\x00-\x1f]|^\s|\s$""", student):
            raise CourseError(
                "the student's id holds one of * ? [ ] < > \" \\ or a line break, or "
                "begins or ends with a space"
            )
        before = store.load(student)
        old, read = marks_before(classroom, assignment, student)
        known = {"old": old, "read": sorted(read), "at": datetime.now(UTC).isoformat()}
        known["digest"] = before.digest if before else ""
        begun = store.begin(student, known)
        read = read.union(begun["read"])
        result.notes += prepared(classroom, assignment, student)
        api = classroom.api(submitted=f"course/{assignment}/prepared")
        answer = api.autograde(assignment, student, force=True, create=True)
        if not answer["success"]:
            raise failure(answer)
        for notebook in notebooks_of(classroom, assignment):
            path = classroom.root / "autograded" / student / assignment / notebook
            on_disk(path)
            cells, computing = read_cells(path, store.fingerprints())
            result.cells |= cells
            result.computing = round(result.computing + computing, 2)
        if read and begun["digest"] == result.digest:
            keep_read(classroom, assignment, student, read)
        remember(classroom, assignment, student, begun)
        result.notes += what_happened(result)
        result.status = NOTED if result.notes else result.status
    except Exception as error:  # one submission must never end the batch
        result.status, result.why = FAILED, str(error)
        if not isinstance(error, CourseError):
            reason = printable(f"{type(error).__name__}: {error}")[:300]
            result.why = f"the grader could not handle it: {reason}"
        if _is_fault(error):
            result.digest = ""  # it says nothing of the submission: try it next time
    result.why, result.notes = writable(result.why), writable_in(result.notes)
    result.seconds = round(time.perf_counter() - started, 2)
    store.save(result)
    if result.digest:
        store.end(student)
    return result


def _is_fault(error: Exception) -> bool:
    """Tell whether the machine is to blame, and not what was handed in."""
    fault = isinstance(error, MachineFault | OperationalError)
    return fault or (isinstance(error, OSError) and error.errno in FAULTS)


def marks_before(classroom, assignment: str, student: str) -> tuple:
    """Give the score so far, and the cells that a teacher has marked and looked at."""
    with classroom.gradebook() as gradebook:
        try:
            submission = gradebook.find_submission(assignment, student)
        except MissingEntry:
            return None, set()
        read = {
            grade.name
            for notebook in submission.notebooks
            for grade in notebook.grades
            if grade.manual_score is not None and not grade.needs_manual_grade
        }
        return submission.score, read


def remember(classroom, assignment: str, student: str, begun: dict) -> None:
    """Add a line to the history when a regrade has changed a score, once.

    A regrade that was killed is the same one when it is run again.
    """
    new, _ = marks_before(classroom, assignment, student)
    if begun["old"] is None or new == begun["old"]:
        return
    line = {"student": student, "old": begun["old"], "new": new, "at": begun["at"]}
    path = classroom.root / "course" / assignment / "history.jsonl"
    text = json.dumps(line).encode()
    with path.open("ab+") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
        there = file.read()
        if text not in there.splitlines():
            half = there and not there.endswith(b"\n")  # a power cut left half a line
            file.write(b"\n" * bool(half) + text + b"\n")


def keep_read(classroom, assignment: str, student: str, names: set[str]) -> None:
    """Let marks stand that were read: nbgrader asks for each once more on a regrade."""
    with classroom.gradebook() as gradebook:
        for notebook in gradebook.find_submission(assignment, student).notebooks:
            for grade in notebook.grades:
                if grade.name in names:
                    grade.needs_manual_grade = False
        gradebook.db.commit()


def prepared(classroom: Classroom, assignment: str, student: str) -> list[str]:
    """Prepare a submission for grading in a folder of the grader's own; give the notes.

    Raises CourseError when it cannot be graded at all.
    """
    target = classroom.root / "course" / assignment / "prepared" / student / assignment
    shutil.rmtree(target, ignore_errors=True)
    released = classroom.root / "release" / assignment
    models = {name: released / name for name in notebooks_of(classroom, assignment)}
    submitted = classroom.root / "submitted" / student / assignment
    source = classroom.root / "source" / assignment
    return mend.prepare(submitted, models, target, source)


def what_happened(result: Result) -> list[str]:
    """Note answers that did not run, odd partial credit, and tests that hung."""
    stopped = [
        f"{name} stopped with {printable(cell['error'].split(':')[0])}"
        for name, cell in result.cells.items()
        if cell["kind"] == "answer"
        and cell.get("error", "").split(":")[0] not in {"", "NotImplementedError"}
    ]
    noted = {name: c["note"] for name, c in result.cells.items() if "note" in c}
    for name, cell in result.cells.items():
        if cell.get("error", "").startswith("CheckerEnded"):
            noted[name] = "the test did not come to an end: 0 points, grade it again"
    return stopped + [f"{name}: {printable(note)}" for name, note in noted.items()]


def notebooks_of(classroom: Classroom, assignment: str) -> list[str]:
    """Name the notebooks that an assignment consists of."""
    source = classroom.root / "source" / assignment
    return sorted(path.name for path in source.glob("*.ipynb"))


def _is_new(classroom: Classroom, store: ResultStore, student: str) -> bool:
    result = store.load(student)
    if result is None or store.was_killed(student):
        return True
    return result.digest != digest_of(classroom, store.assignment, student)


def digest_of(classroom: Classroom, assignment: str, student: str) -> str:
    """Sum up all that a grade depends on: the submission and the assignment."""
    total = hashlib.sha256()
    for folder in ("submitted/" + student, "source", "release"):
        base = classroom.root / folder / assignment
        for path in sorted(base.rglob("*")):
            if path.is_file() and not path.is_symlink():
                size = path.stat().st_size
                total.update(os.fsencode(path.relative_to(base)) + b"\0")
                total.update(f"{size}\0".encode())
                if size <= READ_AT_MOST:  # larger ones are not graded
                    total.update(_sum_of(path))
    return total.hexdigest()


def _sum_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:  # it may be read next time
        return str(error.errno).encode()


# --- what is written for people and programs ----------------------------------------


def write_status(classroom: Classroom, assignment: str) -> Path:
    """Write one JSON line for each submission: how its grading ended, and why."""
    keys = ("student", "assignment", "status", "why", "notes", "seconds")
    path = classroom.root / f"status-{assignment}.jsonl"
    with whole_file(path) as file:
        for result in ResultStore(classroom.root, assignment).all():
            line = {key: getattr(result, key) for key in keys}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return path


def write_grades(classroom: Classroom, assignment: str) -> Path:
    """Write ``grades.csv``: one row for each submission, one column for each cell.

    RFC 4180, UTF-8. A cell that a spreadsheet would run as a formula is quoted with
    an apostrophe.
    """
    path = classroom.root / "grades.csv"
    with whole_file(path) as file:
        writer = csv.DictWriter(file, columns(classroom, assignment))
        writer.writeheader()
        for row in grade_rows(classroom, assignment):
            writer.writerow({key: harmless(value) for key, value in row.items()})
    return path


def harmless(value):
    """Keep a spreadsheet from running a text: put an apostrophe before a formula."""
    if isinstance(value, str) and value.startswith(tuple("=+-@\t\r\n＝＋－＠")):
        return "'" + value
    return value
