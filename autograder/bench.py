"""Measure grading against stock nbgrader, on the same submissions, in one run."""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from autograder.classroom import Classroom
from autograder.demo import make_class
from autograder.exercise import find_exercise
from autograder.grade import grade, grade_rows

EXERCISE = "01-self-attention"
STOCK = """
c = get_config()
c.CourseDirectory.root = {root!r}
c.Execute.timeout = 120
"""


@dataclass(frozen=True)
class Measured:
    """How long one way of grading took, and the marks that it gave.

    ``seconds`` are for all submissions, the others for one: ``running`` from one
    result to the next, once all has started, ``median`` for a submission by itself,
    ``computing`` CPU seconds of the answers.
    """

    name: str
    workers: int
    seconds: float
    running: float
    median: float
    computing: float
    marks: dict


def bench(students: int, workers: int) -> list[Measured]:
    """Grade the same submissions with stock nbgrader, with one worker and with many.

    Returns what was measured: seconds for all, the median for one where each is
    timed by itself, and the marks of every cell. Our own figures come with the start of
    the fork server and of the workers.
    """
    with tempfile.TemporaryDirectory() as folder:
        room = _class(Path(folder) / "ours", students)
        stock = Path(folder) / "stock"
        shutil.copytree(room.root, stock)
        found = [_stock(stock, students)]
        for count in range(1, workers + 1):
            ends, started = [], time.perf_counter()
            note = lambda result, ends=ends: ends.append(time.perf_counter())
            options = {"workers": count, "again": True, "on_done": note}
            results = list(grade(room, EXERCISE, **options))
            seconds = time.perf_counter() - started
            running = (ends[-1] - ends[0]) / max(1, len(ends) - 1)
            middle = statistics.median(result.seconds for result in results)
            own = statistics.mean(result.computing for result in results)
            name = f"course grade, {count} worker{'s' * (count > 1)}"
            times = seconds, running, middle, own
            found.append(Measured(name, count, *times, _marks(room)))
        return found


def _class(folder: Path, students: int) -> Classroom:
    room = Classroom.create(folder)
    exercise = find_exercise(EXERCISE)
    room.release(exercise)
    learners = make_class(room, exercise)
    for learner in learners[students:]:
        shutil.rmtree(room.root / "submitted" / learner.id)
    return room


def _stock(folder: Path, students: int) -> Measured:
    """Run ``nbgrader autograde`` as it comes, in one process."""
    config = folder / "nbgrader_config.py"
    config.write_text(STOCK.format(root=str(folder)), encoding="utf-8")
    program = Path(sys.executable).with_name("nbgrader")
    started = time.perf_counter()
    subprocess.run(
        [program, "autograde", EXERCISE, "--create"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    seconds = time.perf_counter() - started
    room = Classroom.open(folder)
    each = seconds / students
    return Measured("stock nbgrader", 1, seconds, each, each, 0.0, _marks(room))


def _marks(room: Classroom) -> dict:
    """Give the marks of every cell, by student."""
    kept = ("status", "seconds_late", "assignment")
    return {
        row["student"]: {key: value for key, value in row.items() if key not in kept}
        for row in grade_rows(room, EXERCISE)
    }
