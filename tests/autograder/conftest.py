"""What the grader's tests share: a small class, copies of it, and a browser."""

import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import pytest

from autograder.classroom import Classroom
from autograder.demo import ESSAY, fill_in, right_answers
from autograder.exercise import find_exercise
from autograder.grade import grade

ASSIGNMENT = "01-self-attention"
DUE = datetime(2027, 3, 12, 23, 59, tzinfo=UTC)


@pytest.fixture(scope="session")
def exercise():
    """Return the exercise that the small class has."""
    return find_exercise(ASSIGNMENT)


@pytest.fixture(scope="session")
def small_class(tmp_path_factory, exercise):
    """Make a class with one exercise and three learners; nothing is graded yet.

    "ada" is right, "ben" makes the mistake that hidden tests alone can tell, "cy"
    hands in the untouched notebook. Tests that change the class copy it first.
    """
    classroom = Classroom.create(tmp_path_factory.mktemp("small") / "class")
    released = nbformat.read(classroom.release(exercise, DUE), as_version=4)
    right = right_answers(exercise)
    graded = [a for a in exercise.misconceptions if a.seen == "graded"]
    wrong = next(a for a in graded if a.piece == "shuffle_both_ways")
    hand_in(classroom, exercise, "ada", fill_in(released, right, ESSAY))
    mistaken = right | {wrong.piece: wrong.source}
    hand_in(classroom, exercise, "ben", fill_in(released, mistaken, ESSAY))
    hand_in(classroom, exercise, "cy", released)
    return classroom


def hand_in(classroom, exercise, student, notebook):
    """Write a learner's notebook, and when it came, into ``submitted``."""
    folder = classroom.root / "submitted" / student / exercise.name
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{exercise.notebook}.ipynb")
    (folder / "timestamp.txt").write_text("2027-03-12 04:00:00 UTC", encoding="utf-8")


@pytest.fixture(scope="session")
def copy_class(small_class, tmp_path_factory):
    """Return a function that gives a copy of the small class, for tests to change."""

    def copy():
        root = tmp_path_factory.mktemp("copy") / "class"
        shutil.copytree(small_class.root, root)
        return Classroom.open(root)

    return copy


@pytest.fixture(scope="session")
def class_of_five(copy_class, exercise):
    """Return the small class with two more: one breaks off, one has to be mended."""
    room = copy_class()
    (path,) = (room.root / "release" / exercise.name).glob("*.ipynb")
    released = nbformat.read(path, as_version=4)
    right = right_answers(exercise)
    broken = right | {next(iter(right)): "def softmax(scores)\n    return scores"}
    hand_in(room, exercise, "dan", fill_in(released, broken, ESSAY))
    hand_in(room, exercise, "eve", fill_in(released, right, ESSAY))
    folder = room.root / "submitted" / "eve" / exercise.name
    (folder / path.name).rename(folder / "homework.ipynb")
    return room


@pytest.fixture(scope="session")
def graded_serially(class_of_five, tmp_path_factory):
    """Return a copy of the class of five that one worker of this machine has graded."""
    root = tmp_path_factory.mktemp("serial") / "class"
    shutil.copytree(class_of_five.root, root)
    grade(Classroom.open(root), ASSIGNMENT, workers=1)
    return Classroom.open(root)


@pytest.fixture(scope="module")
def own_class(copy_class):
    """Return a copy of the small class that the tests of one file share."""
    return copy_class()


@pytest.fixture(scope="session")
def bare_environment(tmp_path_factory):
    """Return an environment in which nothing is activated or set up.

    The programs of the virtual environment are not on the PATH, and neither Jupyter
    nor IPython finds a file of the person who runs the tests.
    """
    home = tmp_path_factory.mktemp("home")
    names = ("JUPYTER", "IPYTHON", "PYTHON", "VIRTUAL_ENV", "PYTEST")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(names)}
    ours = Path(sys.executable).parent
    path = [
        folder
        for folder in kept.get("PATH", os.defpath).split(os.pathsep)
        if folder and Path(folder).resolve() != ours.resolve()
    ]
    return kept | {
        "PATH": os.pathsep.join(path),
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
