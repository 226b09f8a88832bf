"""Write what goes back to each learner: one page for each submission."""

from pathlib import Path

from nbgrader.api import BaseCell, MissingEntry
from nbgrader.preprocessors import ClearHiddenTests
from traitlets import Bool

from autograder.classroom import Classroom
from autograder.errors import CourseError
from autograder.exercise import Exercise, find_exercise
from autograder.pages import render
from autograder.results import Result, ResultStore, write_whole


class HideHiddenTests(ClearHiddenTests):
    """Keep hidden tests out of the pages of the stock ``generate_feedback``.

    Their source is cut out, and so is the traceback that quotes it.
    """

    enforce_metadata = Bool(False)

    def preprocess_cell(self, cell, resources, index):
        """Cut hidden tests out of a cell, and tracebacks of cells that had some."""
        if self._remove_hidden_test_region(cell):
            for output in cell.get("outputs", []):
                if output.output_type == "error":
                    output.traceback = [output.ename]
                    if output.ename != "CheckFailed":
                        output.evalue = ""
        return cell, resources


def write_feedback(classroom: Classroom, assignment: str) -> list[Path]:
    """Write a page for every graded submission into ``feedback/``; give their paths.

    A page holds the score, each check with its properties and known mistake, the
    learner's own code and the teacher's comments; never a hidden test.
    Raises CourseError when nothing is graded yet.
    """
    store = ResultStore(classroom.root, assignment)
    results = store.all()
    if not results:
        raise nothing_graded(classroom, assignment)
    exercise = exercise_or_none(assignment)
    pages = []
    with classroom.gradebook() as gradebook:
        _held = gradebook.db.query(BaseCell).all()  # else read again for each page
        for result in results:
            facts = page_facts(gradebook, result, exercise)
            folder = classroom.root / "feedback" / result.student / assignment
            name = exercise.notebook if exercise else assignment
            write_whole(folder / f"{name}.html", render("feedback.html", **facts))
            pages.append(folder / f"{name}.html")
    return pages


def nothing_graded(classroom: Classroom, assignment: str) -> CourseError:
    """Say that there is nothing to write about yet, and what to do."""
    return CourseError(
        f"Nothing of {assignment} is graded yet. Run: "
        f"course grade --class {classroom.root}"
    )


def exercise_or_none(assignment: str) -> Exercise | None:
    """Find the course's own exercise; None for an assignment of the teacher's."""
    try:
        return find_exercise(assignment)
    except CourseError:
        return None


def page_facts(gradebook, result: Result, exercise: Exercise | None) -> dict:
    """Bring together what the gradebook and the results file say of a submission."""
    try:
        submission = gradebook.find_submission(result.assignment, result.student)
        graded = {g.name: g for n in submission.notebooks for g in n.grades}
        said = {c.name: c.comment for n in submission.notebooks for c in n.comments}
    except MissingEntry:
        submission, graded, said = None, {}, {}
    return {
        "title": exercise.facts["title"] if exercise else result.assignment,
        "student": result.student,
        "assignment": result.assignment,
        "score": submission.score if submission else 0,
        "max_score": submission.max_score if submission else 0,
        "late": bool(submission and submission.total_seconds_late),
        "waiting": bool(submission and submission.needs_manual_grade),
        "why": result.why,
        "notes": result.notes,
        "groups": groups(result, graded, said, exercise),
    }


def groups(result: Result, graded: dict, said: dict, exercise) -> list[dict]:
    """Arrange checks and answers under the headings of the exercise, in its order."""
    titles = exercise.titles if exercise else {}
    found: dict[str, dict] = {}
    waiting = []
    for name, cell in result.cells.items():
        if cell["kind"] == "answer":
            waiting.append({"name": name, "error": "", **cell})
            continue
        title = titles.get(name, "Checks")
        group = found.setdefault(title, {"title": title, "checks": [], "answers": []})
        group["checks"].append(_check(name, cell, graded.get(name), said.get(name)))
        group["answers"] += waiting
        waiting = []
    return list(found.values())


def _check(name: str, cell: dict, grade, comment: str | None) -> dict:
    score = grade.score if grade else 0
    state = "passed" if score >= cell["points"] else "failed"
    return {
        "state": "waiting" if grade and grade.needs_manual_grade else state,
        "read": bool(grade and grade.manual_score is not None),
        "name": name,
        "score": score,
        "points": cell["points"],
        "properties": cell.get("properties", []),
        "mistake": cell.get("mistake"),
        "error": cell.get("error") or cell.get("note", ""),
        "comment": comment or "",
        "written": cell.get("source", "") if cell["kind"] == "written" else "",
    }
