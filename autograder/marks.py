"""Read marks out of the gradebook: many students at a time, and not all at once."""

from collections import defaultdict
from collections.abc import Iterator

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import select

from autograder.classroom import Classroom
from autograder.results import ResultStore

AT_A_TIME = 50
FACTS = (
    "student",
    "assignment",
    "status",
    "score",
    "max_score",
    "needs_manual_grade",
    "seconds_late",
)


def columns(classroom: Classroom, assignment: str) -> list[str]:
    """Name what a row of ``grades.csv`` holds: facts, then every graded cell."""
    with classroom.gradebook() as gradebook:
        return [*FACTS, *_cell_columns(gradebook, assignment)]


def grade_rows(classroom: Classroom, assignment: str) -> Iterator[dict]:
    """Give a row for each submission in the gradebook, sorted by student.

    It holds the score of every graded cell, and the comment on those marked by hand.
    """
    store = ResultStore(classroom.root, assignment)
    with classroom.gradebook() as gradebook:
        empty = _cell_columns(gradebook, assignment)
        students = _students(gradebook, assignment)
        for start in range(0, len(students), AT_A_TIME):
            some = students[start : start + AT_A_TIME]
            scores = _by_student(gradebook, Grade, Grade.score, assignment, some)
            said = _by_student(gradebook, Comment, Comment.comment, assignment, some)
            for row in _facts(gradebook, assignment, some):
                result = store.load(row["student"])
                row["status"] = result.status if result else ""
                row |= empty | scores[row["student"]]
                for name, comment in said[row["student"]].items():
                    if f"{name} comment" in row:
                        row[f"{name} comment"] = comment or ""
                yield row
            gradebook.db.expunge_all()


def _cell_columns(gradebook, assignment: str) -> dict[str, str | None]:
    """Name the graded cells, each written one with a second column for its comment.

    Gives what they hold where there is no grade and no comment.
    """
    names = {}
    notebooks = gradebook.find_assignment(assignment).notebooks
    for notebook in sorted(notebooks, key=lambda notebook: notebook.name):
        cells = [*notebook.grade_cells, *notebook.task_cells]
        for cell in sorted(cells, key=lambda cell: cell.name):
            names[cell.name] = None
            if cell.cell_type == "markdown":
                names[f"{cell.name} comment"] = ""
    return names


def _students(gradebook, assignment: str) -> list[str]:
    asked = select(SubmittedAssignment.student_id).join(Assignment)
    return sorted(gradebook.db.scalars(asked.where(Assignment.name == assignment)))


def _facts(gradebook, assignment: str, students: list[str]) -> list[dict]:
    """Give what is said of each submission as a whole, sorted by student."""
    asked = select(
        SubmittedAssignment,
        SubmittedAssignment.score,
        SubmittedAssignment.max_score,
        SubmittedAssignment.needs_manual_grade,
    ).join(Assignment)
    found = gradebook.db.execute(_of(asked, assignment, students))
    rows = [
        {
            "student": submission.student_id,
            "assignment": assignment,
            "status": "",
            "score": score,
            "max_score": most,
            "needs_manual_grade": waits,
            "seconds_late": round(submission.total_seconds_late),
        }
        for submission, score, most, waits in found
    ]
    return sorted(rows, key=lambda row: row["student"])


def _by_student(gradebook, kind, value, assignment: str, students: list[str]) -> dict:
    """Give one value of each cell of each student, such as the score."""
    asked = (
        select(SubmittedAssignment.student_id, BaseCell.name, value)
        .select_from(kind)
        .join(kind.cell)
        .join(kind.notebook)
        .join(SubmittedNotebook.assignment)
        .join(Assignment)
    )
    found = defaultdict(dict)
    for student, name, given in gradebook.db.execute(_of(asked, assignment, students)):
        found[student][name] = given
    return found


def _of(asked, assignment: str, students: list[str]):
    """Ask for some students of one assignment only."""
    mine = SubmittedAssignment.student_id.in_(students)
    return asked.where(Assignment.name == assignment, mine)
