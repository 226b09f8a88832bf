"""Put what an LMS or a folder holds into ``submitted/``: each newest attempt, whole."""

import contextlib
import json
import os
import shutil
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.api import MissingEntry

from autograder.archive import Entry, Refused, opened
from autograder.attempts import STAMP, Attempt, newest
from autograder.classroom import Classroom
from autograder.errors import CourseError
from autograder.grade import only_one
from autograder.lms import MOODLE, Arrival, Owner, arrival, wrapping
from autograder.mend import time_in
from autograder.results import read_json, write_whole
from autograder.roster import Roster, folded, normal, safe_id


@dataclass
class Collected:
    """What came of collecting: ids of students, and what was not taken.

    ``around`` names the folders around all submissions; ``derived`` says for an id the
    name that it was made of; ``older`` lists files of attempts that a newer one
    replaces.
    """

    around: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    derived: dict[str, str] = field(default_factory=dict)
    older: list[str] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)


def collect(
    classroom: Classroom, assignment: str, source: Path, roster: Roster | None = None
) -> Collected:
    """Put every student's newest attempt into ``submitted/STUDENT/ASSIGNMENT``.

    The source is a folder, a zip, or a download of Canvas's or Moodle's. What cannot
    be taken is refused with a reason, and the rest is collected. An attempt replaces
    the one before as a whole; the same source again changes nothing. Raises
    CourseError when there is nothing to collect.
    """
    _apart(classroom, source)
    try:
        with only_one(classroom), opened(source) as (entries, refused):
            return _collect(classroom, assignment, entries, refused, roster)
    except OSError as error:
        raise CourseError(
            f"Collecting from {source} stopped: {error}. What is collected so far is "
            "whole; mend the cause and run it again."
        ) from error


def _apart(classroom: Classroom, source: Path) -> None:
    """Raise CourseError when the source holds the class, or is what it collects."""
    there, submitted = Path(source).resolve(), classroom.root / "submitted"
    if there in (submitted, *submitted.parents) or submitted in there.parents:
        raise CourseError(
            f"{source} and {submitted} lie in one another. Expected submissions from "
            "elsewhere; copy them there first."
        )


def _collect(classroom, assignment: str, entries, refused, roster) -> Collected:
    report = Collected(refused=refused)
    released = _released(classroom, assignment)
    arrivals = _arrivals(classroom, assignment, entries, released, roster, report)
    if not arrivals and not report.refused:
        raise CourseError(
            "There is no submission in it. Expected STUDENT/FILE, STUDENT_FILE, a zip "
            "for each student, or a download of Canvas's or Moodle's."
        )
    (classroom.root / "submitted").mkdir(exist_ok=True)
    _heal(classroom, assignment)
    students = _students(classroom, arrivals, roster, report)
    _remember(classroom, assignment, students, {})
    due, known = _due(classroom, assignment), identities(classroom, assignment)
    orders = {}
    for student in sorted(students):
        target = classroom.root / "submitted" / student / assignment
        try:
            attempt = newest(students[student], released, due)
            last = known.get(student, {}).get("canvas_file", 0)
            if attempt.order < last:
                raise CourseError(f"a newer attempt is there, Canvas's file {last}")
            orders[student] = attempt.order
            place = report.new if install(attempt, target) else report.unchanged
            place.append(student)
        except CourseError as error:
            report.refused.append(Refused(student, str(error)))
        else:
            report.older += attempt.older
            report.refused += attempt.refused
    _remember(classroom, assignment, students, orders)
    return report


def _released(classroom: Classroom, assignment: str) -> list[str]:
    """Name the files that students got."""
    folder = classroom.root / "release" / assignment
    return sorted(path.name for path in folder.glob("*") if path.is_file())


def _due(classroom: Classroom, assignment: str) -> datetime | None:
    """Say when the assignment is due."""
    with classroom.gradebook() as gradebook:
        due = gradebook.find_assignment(assignment).duedate
    return due.replace(tzinfo=UTC) if due else None


# --- whose it is ----------------------------------------------------------------------


def _arrivals(classroom, assignment, entries, released, roster, report):
    """Tell who handed each file in; refuse those that do not say."""
    others = set(classroom.assignments()) - {assignment}
    notebooks = [name for name in released if name.endswith(".ipynb")]
    is_student = lambda name: _is_student(classroom, roster, name)
    report.around = wrapping(entries, assignment, notebooks, is_student)
    depth, found = len(report.around), []
    for entry in (replace(e, path=e.path[depth:]) for e in entries):
        if _is_of(others, entry):
            continue
        try:
            found.append(arrival(entry, assignment, notebooks))
        except CourseError as error:
            report.refused.append(Refused(str(entry), str(error)))
    guesses = Counter(file.owner.key for file in found if file.guessed)
    for file in [f for f in found if f.guessed and guesses[f.owner.key] > 1]:
        found.remove(file)
        why = "could be of several students: expected STUDENT/FILE"
        report.refused.append(Refused(str(file.entry), why))
    if not all(file.stock for file in found):  # not nbgrader's, but a student's
        found = [replace(file, stock=False) for file in found]
    return found


def _is_student(classroom: Classroom, roster: Roster | None, name: str) -> bool:
    """Tell whether the class knows a student by this name."""
    if (classroom.root / "submitted" / name).exists():
        return True
    with contextlib.suppress(CourseError):
        if roster and roster.find(Owner(name)):
            return True
    with classroom.gradebook() as gradebook, contextlib.suppress(MissingEntry):
        return bool(gradebook.find_student(name))
    return False


def _is_of(assignments: set[str], entry: Entry) -> bool:
    """Tell whether a file is of one of these assignments, in nbgrader's layout."""
    path = entry.path
    return len(path) > 2 and path[1] in assignments and not MOODLE.fullmatch(path[0])


def _students(classroom, arrivals, roster, report) -> dict[str, list[Arrival]]:
    """Group the files by student; refuse people who cannot be told apart."""
    groups: dict[tuple, list[Arrival]] = defaultdict(list)
    for file in arrivals:
        groups[file.owner.key].append(file)
    named: list[tuple[str, list[Arrival]]] = []
    for group in groups.values():
        owner = group[0].owner
        try:
            _one_name(group)
            named.append((roster.find(owner) if roster else safe_id(owner), group))
        except CourseError as error:
            report.refused.append(Refused(str(owner), str(error)))
    submitted = {path.name for path in (classroom.root / "submitted").iterdir()}
    there = {folded(name): name for name in submitted}
    alike = Counter(folded(student) for student, _ in named)
    students = {}
    for student, group in named:
        owner = group[0].owner
        taken = there.get(folded(student), student)
        if alike[folded(student)] > 1:
            why = f"another one would be {student} too: tell them apart with a roster"
            report.refused.append(Refused(str(owner), why))
        elif taken != student and student not in submitted:
            why = f"would be {student}, but there is {taken} already"
            report.refused.append(Refused(str(owner), why))
        else:
            students[student] = group
            if not roster and (student != normal(owner.name) or group[0].guessed):
                report.derived[student] = str(owner)
    return students


def _one_name(group: list[Arrival]) -> None:
    """Raise CourseError when files with one number bear the names of two people."""
    names = sorted({file.owner.name for file in group})
    if len(names) > 1:
        raise CourseError(f"one number with several names: {', '.join(names)}")


def _remember(classroom, assignment: str, students, orders: dict[str, int]) -> None:
    """Keep what the LMS calls each student, and Canvas's number of their last file.

    The export gives the first back; the second tells an older download.
    """
    owners = {student: group[0].owner for student, group in students.items()}
    before = identities(classroom, assignment)
    known = {
        student: before.get(student, {})
        | _identity(owner)
        | ({"canvas_file": orders[student]} if orders.get(student) else {})
        for student, owner in owners.items()
        if owner.lms
    }
    if before | known != before:
        path = classroom.root / "course" / assignment / "collected.json"
        write_whole(path, json.dumps(before | known, indent=1, ensure_ascii=False))


def _identity(owner: Owner) -> dict[str, str]:
    return {"name": owner.name, f"{owner.lms}_id": owner.number}


def identities(classroom: Classroom, assignment: str) -> dict[str, dict]:
    """Say what the LMS called each student when their work was collected."""
    return read_json(classroom.root / "course" / assignment / "collected.json")


# --- where it goes --------------------------------------------------------------------


def install(attempt: Attempt, target: Path) -> bool:
    """Put an attempt in its place; tell whether that changed anything.

    It is written beside its place and swapped in, so that what is there is always
    one whole attempt. Raises CourseError when nothing of it can be taken.
    """
    if target.parent.is_symlink() or target.is_symlink():
        raise CourseError(f"{target} is a link: remove it")
    there = _time_there(target)
    if attempt.time and there and there > attempt.time.astimezone(UTC):
        raise CourseError(
            f"a newer attempt is there, of {there:%Y-%m-%d %H:%M} UTC; remove {target} "
            "to take this one"
        )
    files = _read(attempt)
    if target.exists() and files == _content(target):
        return False
    staged = target.with_name(f".{target.name}.new")
    for name, data in files.items():
        path = staged / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    old = target.with_name(f".{target.name}.old")
    if target.exists():
        target.rename(old)
    staged.rename(target)
    shutil.rmtree(old, ignore_errors=True)
    return True


def _read(attempt: Attempt) -> dict[str, bytes]:
    """Read the files of an attempt by name, and say in one of them when it came."""
    files = {}
    for inner, entry in attempt.files.items():
        try:
            files["/".join(inner)] = entry.read()
        except CourseError as error:
            attempt.refused.append(Refused(str(entry), str(error)))
    if not files:
        whats = [f"{one.what} {one.why}" for one in attempt.refused]
        raise CourseError("nothing of it could be taken: " + "; ".join(whats[:5]))
    if attempt.time and STAMP not in files:
        stamp = attempt.time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        files[STAMP] = stamp.encode()
    return files


def _heal(classroom: Classroom, assignment: str) -> None:
    """Undo what a killed run left between two steps."""
    for folder in (classroom.root / "submitted").iterdir():
        old, new = folder / f".{assignment}.old", folder / f".{assignment}.new"
        if old.exists() and not (folder / assignment).exists():
            old.rename(folder / assignment)
        shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(new, ignore_errors=True)


def _content(folder: Path) -> dict[str, bytes | None]:
    """Read all files of a folder; None stands for what is no plain file."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            plain = path.is_file() and not path.is_symlink()
            found[path.relative_to(folder).as_posix()] = (
                path.read_bytes() if plain else None
            )
    return found


def _time_there(target: Path) -> datetime | None:
    """Say when the attempt came that is there, if it is known."""
    try:
        return time_in((target / STAMP).read_bytes())
    except OSError:
        return None
