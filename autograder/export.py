"""Give marks back to an LMS: CSV files that the imports of Canvas and Moodle accept.

Canvas, *Grades, Import*: the columns are those of its own export, which its guide
("How do I import grades in the Gradebook?", community.canvaslms.com) asks for; what
the import reads of them is in ``lib/gradebook_importer.rb`` of Canvas. People are
found by ``ID``, else by a SIS column, else by name.

Moodle has two imports, and one file serves both. *Upload grading worksheet* of an
assignment reads ``Identifier``, ``Grade``, ``Last modified (grade)`` and ``Feedback
comments`` (``mod/assign/feedback/offline/importgradeslib.php`` of Moodle). *Grades,
Import, CSV file* lets you choose the columns (https://docs.moodle.org/en/Grade_import).
"""

import csv
import html
import io
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.classroom import Classroom
from autograder.collect import identities
from autograder.errors import CourseError
from autograder.grade import digest_of, harmless
from autograder.results import FAILED, Result, ResultStore, write_whole
from autograder.roster import Person, Roster, normal
from autograder.texts import printable

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE = (
    "Identifier",
    "Full name",
    "ID number",
    "Email address",
    "Grade",
    "Maximum grade",
    "Last modified (grade)",
    "Feedback comments",
)


@dataclass
class Mark:
    """What one student gets: a score, the most there is, and a few sentences."""

    person: Person
    score: float
    most: float
    comments: str
    unmarked: bool


@dataclass
class Exported:
    """A file for an LMS: how many marks it holds, and what needs a look."""

    path: Path
    count: int
    notes: list[str] = field(default_factory=list)


def export(
    classroom: Classroom, assignment: str, lms: str, roster: Roster | None = None
) -> Exported:
    """Write ``canvas-ASSIGNMENT.csv`` or ``moodle-ASSIGNMENT.csv`` into the class.

    RFC 4180, UTF-8; a cell that a spreadsheet would run is quoted with an apostrophe.
    Work that could not be graded is left out. Raises CourseError when there is no
    mark at all.
    """
    notes: list[str] = []
    marks = _marks(classroom, assignment, roster, notes)
    if not marks:
        raise CourseError(
            f"No mark of {assignment} is in the gradebook. Grade it first: "
            f"course grade --class {classroom.root}"
        )
    if lms == "canvas":
        rows = canvas_rows(assignment, marks)
        lost = [m for m in marks if not _known_to_canvas(m.person)]
        why = "without canvas_id, SIS id or name, so that Canvas cannot find them"
    else:
        rows = moodle_rows(marks)
        lost = [m for m in marks if not (m.person.moodle_id or m.person.email)]
        why = "without Identifier or e-mail address; match them by ID number"
        notes += _note(
            [m for m in marks if m.score > m.most],
            "over the maximum, so that Moodle skips them",
        )
    notes += _note(lost, why)
    notes += _note([m for m in marks if m.unmarked], "waiting for a mark by hand")
    path = classroom.root / f"{lms}-{assignment}.csv"
    text = io.StringIO(newline="")
    csv.writer(text).writerows([harmless(cell) for cell in row] for row in rows)
    write_whole(path, text.getvalue())
    return Exported(path, len(marks), notes)


def canvas_rows(assignment: str, marks: list[Mark]) -> list[list]:
    """Give the rows of Canvas's gradebook: heads, points possible, then the marks."""
    most = number(max(mark.most for mark in marks))
    rows = [
        [*CANVAS, assignment],
        ["    Points Possible", "", "", "", "", most],
    ]
    for mark in marks:
        one = mark.person
        who = [one.name or one.id, one.canvas_id, one.sis_user_id, one.sis_login_id]
        rows.append([*who, one.section, number(mark.score)])
    return rows


def moodle_rows(marks: list[Mark]) -> list[list]:
    """Give the rows of a grading worksheet of Moodle's, with its English heads.

    The date of the last change stays empty: so Moodle overwrites no grade that was
    given there, unless you tell it to.
    """
    rows: list[list] = [list(MOODLE)]
    for mark in marks:
        one = mark.person
        identifier = f"Participant {one.moodle_id}" if one.moodle_id else ""
        who = [identifier, one.name or one.id, one.id, one.email]
        comments = html.escape(mark.comments, quote=False)  # Moodle takes it for HTML
        rows.append([*who, number(mark.score), number(mark.most), "", comments])
    return rows


def number(value: float) -> float | int:
    """Round a score to two places, as both show them."""
    rounded = round(value, 2)
    return int(rounded) if rounded == int(rounded) else rounded


def _known_to_canvas(person: Person) -> bool:
    known = person.canvas_id, person.sis_user_id, person.sis_login_id, person.name
    return any(known)


def _note(marks: list[Mark], what: str) -> list[str]:
    return _list([mark.person.id for mark in marks], what)


def _list(ids: list[str], what: str) -> list[str]:
    """Say something of students, the first few by name; nothing of none."""
    more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    return [f"{what}: {', '.join(ids[:5])}{more}"] if ids else []


# --- what the gradebook says ----------------------------------------------------------


def _marks(classroom, assignment: str, roster, notes: list[str]) -> list[Mark]:
    """Read the marks of all students whose work could be graded, sorted by id."""
    store = ResultStore(classroom.root, assignment)
    called = identities(classroom, assignment)
    marks = []
    with classroom.gradebook() as gradebook:
        for submission in gradebook.assignment_submissions(assignment):
            student = submission.student.id
            result = store.load(student)
            if result and result.status == FAILED:
                continue
            score = submission.score - (submission.late_submission_penalty or 0)
            mark = Mark(
                person=_person(submission.student, roster, called.get(student, {})),
                score=max(0.0, score),
                most=submission.max_score,
                comments=_comments(submission, result),
                unmarked=submission.needs_manual_grade,
            )
            marks.append(mark)
    _look_at_work(classroom, assignment, {m.person.id for m in marks}, notes)
    return sorted(marks, key=lambda mark: mark.person.id)


def _look_at_work(classroom, assignment: str, marked: set[str], notes) -> None:
    """Note what was handed in and has no mark, or an older one."""
    store = ResultStore(classroom.root, assignment)
    failed, waiting = [], []
    for student in classroom.students(assignment):
        result = store.load(student)
        if result and result.digest != digest_of(classroom, assignment, student):
            waiting.append(student)
        elif result and result.status == FAILED:
            failed.append(student)
        elif student not in marked:
            waiting.append(student)
    notes += _list(failed, "left out, could not be graded")
    notes += _list(waiting, "not graded since they handed in; run course grade")


def _person(student, roster: Roster | None, called: dict[str, str]) -> Person:
    """Say who a student is: by the roster, the gradebook, and the download."""
    known = roster.people.get(student.id) if roster else None
    known = known or Person(student.id)
    names = [student.first_name, student.last_name]
    own = normal(" ".join(filter(None, names)))
    return replace(
        known,
        name=known.name or own or called.get("name", ""),
        email=known.email or student.email or "",
        canvas_id=called.get("canvas_id") or known.canvas_id,
        moodle_id=called.get("moodle_id") or known.moodle_id,
    )


def _comments(submission, result: Result | None) -> str:
    """Say in one line what lost points, which mistakes were made, what a teacher said.

    Nothing of a hidden test is in it, and nothing that the student wrote.
    """
    said = []
    for notebook in sorted(submission.notebooks, key=lambda n: n.name):
        for grade in sorted(notebook.grades, key=lambda g: g.name):
            if grade.needs_manual_grade:
                said.append(f"{grade.name}: not marked yet.")
            elif grade.score < grade.max_score:
                score, most = number(grade.score), number(grade.max_score)
                said.append(f"{grade.name}: {score} of {most}.")
    said += [mistake["sentence"] for mistake in (result.mistakes if result else [])]
    for notebook in submission.notebooks:
        said += [comment.comment for comment in notebook.comments if comment.comment]
    return printable(normal(" ".join(dict.fromkeys(said))))
