"""Write a page about the class: scores, hard checks, and what it gets wrong."""

from collections import Counter
from pathlib import Path
from statistics import median

from autograder.classroom import Classroom
from autograder.feedback import exercise_or_none, nothing_graded
from autograder.marks import FACTS, grade_rows
from autograder.pages import render
from autograder.results import FAILED, GRADED, Results, ResultStore, write_whole

BINS = 10


def write_report(classroom: Classroom, assignment: str) -> Path:
    """Write ``report/<assignment>.html`` and give its path.

    Raises CourseError when nothing is graded yet.
    """
    averages = Averages()
    rows = [averages.count(row) for row in grade_rows(classroom, assignment)]
    results = ResultStore(classroom.root, assignment).all()
    if not results or not rows:
        raise nothing_graded(classroom, assignment)
    facts = report_facts(assignment, rows, averages, results)
    path = classroom.root / "report" / f"{assignment}.html"
    write_whole(path, render("report.html", **facts))
    return path


class Averages:
    """The average score of each cell; a written answer counts once it is read."""

    def __init__(self):
        self.sums, self.counts = Counter(), Counter()

    def count(self, row: dict) -> dict:
        """Count the cells of a row of grades in, and give its facts alone."""
        for name in row.keys() - FACTS:
            written = f"{name} comment" in row
            is_score = isinstance(row[name], (int, float))
            if is_score and not (written and row["needs_manual_grade"]):
                self.sums[name] += row[name]
                self.counts[name] += 1
        return {name: row[name] for name in FACTS}

    def hardest(self, points: dict[str, float]) -> list[dict]:
        """List the checks with the average share of their points, lowest first."""
        checks = []
        for name in points.keys() & self.counts.keys():
            share = round(100 * self.sums[name] / self.counts[name] / points[name])
            checks.append({"name": name, "points": points[name], "share": share})
        return sorted(checks, key=lambda check: (check["share"], check["name"]))


def report_facts(
    assignment: str, rows: list[dict], averages: Averages, results: Results
) -> dict:
    """Bring together what the page shows; of each result no more is kept than that."""
    exercise = exercise_or_none(assignment)
    seconds, points, mistakes, look = {}, {}, {}, []
    for result in results:
        seconds[result.student] = result.seconds
        cells = result.cells.items()
        points |= {name: cell["points"] for name, cell in cells if cell["points"]}
        for mistake in result.mistakes:
            row = mistakes.setdefault(mistake["id"], mistake | {"students": []})
            row["students"].append(result.student)
        if result.status != GRADED:
            facts = {"student": result.student, "status": result.status}
            look.append(facts | {"reason": result.why or "; ".join(result.notes)})
    return {
        "title": exercise.facts["title"] if exercise else assignment,
        "assignment": assignment,
        "results": results,
        "failed": [one for one in look if one["status"] == FAILED],
        "waiting": sum(row["needs_manual_grade"] for row in rows),
        "median": median(row["score"] for row in rows),
        "max_score": max(row["max_score"] for row in rows),
        "histogram": histogram(rows),
        "mistakes": sorted(
            mistakes.values(), key=lambda row: (-len(row["students"]), row["id"])
        ),
        "checks": averages.hardest(points),
        "look": look,
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
