"""Every exercise through the real grader: its reference gets all its tests' points."""

import nbformat
import pytest
from conftest import hand_in

from autograder.classroom import Classroom
from autograder.demo import ESSAY, fill_in, right_answers
from autograder.exercise import all_exercises
from autograder.grade import grade_alone

EXERCISES = {exercise.name: exercise for exercise in all_exercises()}


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    """Make a class for all exercises; their mistakes are not needed here."""
    patch = pytest.MonkeyPatch()
    for module in ("autograder.release", "autograder.trial"):
        patch.setattr(f"{module}.fingerprints", lambda exercise, hidden: {})
    yield Classroom.create(tmp_path_factory.mktemp("every") / "class")
    patch.undo()


@pytest.mark.parametrize("name", EXERCISES)
def test_the_reference_gets_every_point(room, name):
    exercise = EXERCISES[name]
    released = nbformat.read(room.release(exercise), as_version=4)
    filled = fill_in(released, right_answers(exercise), ESSAY)
    hand_in(room, exercise, "ada", filled)
    result = grade_alone(room.root, name, "ada")
    assert result.status == "graded", (result.why, result.notes)
    checks = {k: c for k, c in result.cells.items() if c["kind"] == "check"}
    failing = {k: c.get("error") for k, c in checks.items() if not c["passed"]}
    assert failing == {}
    points = {k: p for k, p in exercise.points.items() if k.startswith("check-")}
    assert {k: c["points"] for k, c in checks.items()} == points
