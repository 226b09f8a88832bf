"""The checkout: where the book is built, and what is built for it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from autograder.classroom import Classroom
from autograder.errors import CourseError
from autograder.exercise import Exercise, all_exercises
from autograder.results import write_whole

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "_build"


def build_book(on_line=lambda line: None) -> Path:
    """Build the web book, warnings as errors, and give the path of its first page.

    Every line that Jupyter Book prints goes to ``on_line``. Raises CourseError with
    its warnings and errors when it fails.
    """
    if not (ROOT / "_config.yml").exists():
        raise CourseError(
            f"The book is built from a checkout of the course; {ROOT} is none."
        )
    for exercise in all_exercises():
        student_notebook(exercise)
    shutil.rmtree(BUILD / "html", ignore_errors=True)
    program = Path(sys.executable).with_name("jupyter-book")
    command = [program, "build", "book", "--config", "_config.yml"]
    command += ["--path-output", ".", "-W", "-n", "--keep-going"]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    told = []
    for line in process.stdout:
        told.append(line.rstrip())
        on_line(line.rstrip())
    if process.wait():
        faults = [line for line in told if "WARNING" in line or "ERROR" in line]
        raise CourseError("The book was not built:\n" + "\n".join(faults or told[-25:]))
    return BUILD / "html" / "index.html"


def student_notebook(exercise: Exercise) -> Path:
    """Give the released notebook of an exercise, made anew only if a source changed."""
    folder = BUILD / "exercises" / exercise.name
    path, stamp = folder / f"{exercise.notebook}.ipynb", folder / ".digest"
    digest = exercise.digest
    if path.exists() and stamp.exists() and stamp.read_text() == digest:
        return path
    released = Classroom.create(BUILD / "releases").release(exercise)
    write_whole(path, released.read_text(encoding="utf-8"))
    write_whole(stamp, digest)
    return path
