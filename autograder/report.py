"""Write a page about the class: scores, hard checks, and what it gets wrong."""

from pathlib import Path
from statistics import median

from autograder.classroom import Classroom
from autograder.feedback import exercise_or_none, nothing_graded
from autograder.grade import grade_rows
from autograder.pages import render
from autograder.results import FAILED, GRADED, Result, ResultStore, write_whole

BINS = 10


def write_report(classroom: Classroom, assignment: str) -> Path:
    """Write ``report/<assignment>.html`` and give its path.

    Raises CourseError when nothing is graded yet.
    """
    results = ResultStore(classroom.root, assignment).all()
    rows = list(grade_rows(classroom, assignment))
    if not results or not rows:
        raise nothing_graded(classroom, assignment)
    path = classroom.root / "report" / f"{assignment}.html"
    write_whole(path, render("report.html", **report_facts(assignment, rows, results)))
    return path


def report_facts(assignment: str, rows: list[dict], results: list[Result]) -> dict:
    """Bring together what the page shows."""
    exercise = exercise_or_none(assignment)
    seconds = {result.student: result.seconds for result in results}
    return {
        "title": exercise.facts["title"] if exercise else assignment,
        "assignment": assignment,
        "results": results,
        "failed": [result for result in results if result.status == FAILED],
        "waiting": sum(row["needs_manual_grade"] for row in rows),
        "median": median(row["score"] for row in rows),
        "max_score": max(row["max_score"] for row in rows),
        "histogram": histogram(rows),
        "mistakes": frequent_mistakes(results),
        "checks": hardest_checks(rows, results),
        "look": [
            {"student": r.student, "status": r.status, "reason": reason(r)}
            for r in results
            if r.status != GRADED
        ],
        "students": [
            row | {"seconds": seconds.get(row["student"], "")} for row in rows
        ],
    }


def histogram(rows: list[dict]) -> list[dict]:
    """Count the scores in ten equal steps of the maximum, highest first."""
    counts = [0] * BINS
    for row in rows:
        share = row["score"] / row["max_score"] if row["max_score"] else 0
        counts[min(BINS - 1, int(share * BINS + 1e-9))] += 1
    most = max(rows, key=lambda row: row["max_score"])["max_score"] or 1
    return [
        {
            "label": f"{most * i / BINS:.4g} to {most * (i + 1) / BINS:.4g}",
            "count": count,
            "share": round(100 * count / len(rows)),
        }
        for i, count in reversed(list(enumerate(counts)))
    ]


def frequent_mistakes(results: list[Result]) -> list[dict]:
    """List the recognised mistakes with the students who made them, most first."""
    found: dict[str, dict] = {}
    for result in results:
        for mistake in result.mistakes:
            row = found.setdefault(mistake["id"], mistake | {"students": []})
            row["students"].append(result.student)
    return sorted(found.values(), key=lambda row: (-len(row["students"]), row["id"]))


def hardest_checks(rows: list[dict], results: list[Result]) -> list[dict]:
    """List the checks with the average share of their points, lowest first.

    A written answer counts once its teacher has read it.
    """
    graded = {
        name: cell
        for result in results
        for name, cell in result.cells.items()
        if cell["points"]
    }
    checks = []
    for name, cell in graded.items():
        written = cell["kind"] == "written"
        read = [r[name] for r in rows if not (written and r["needs_manual_grade"])]
        if read:
            share = round(100 * sum(read) / len(read) / cell["points"])
            checks.append({"name": name, "points": cell["points"], "share": share})
    return sorted(checks, key=lambda check: (check["share"], check["name"]))


def reason(result: Result) -> str:
    """Say in one line why a submission needs a look."""
    return result.why or "; ".join(result.notes)
