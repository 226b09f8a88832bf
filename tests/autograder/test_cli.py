"""The ``course`` command as a user meets it."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.check import check_notebook
from autograder.demo import fill_in, right_answers
from autograder.errors import CourseError
from autograder.exercise import find_exercise
from autograder.project import student_notebook

COMMANDS = [
    "book",
    "release",
    "collect",
    "export",
    "check",
    "grade",
    "feedback",
    "report",
    "demo",
    "doctor",
    "bench",
    "mine",
    "train",
    "load",
    "cases",
]
EXERCISE = find_exercise("01-self-attention")


def course(*words, cwd=None):
    """Run ``course`` and give what it said."""
    return subprocess.run(
        [sys.executable, "-m", "autograder.cli", *map(str, words)],
        cwd=cwd or Path.cwd(),
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    run = course(command, "--help")
    assert run.returncode == 0
    assert "Usage" in run.stdout


def told_off(run):
    """The user's mistake ended in one line, exit code 2 and no traceback."""
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
    return run.stderr.strip()


def test_a_folder_that_is_no_class(tmp_path):
    text = told_off(course("grade", "--class", tmp_path))
    assert "is not a class folder" in text and "course release" in text


def test_an_exercise_that_is_not_there(tmp_path):
    text = told_off(course("release", "99-nothing", "--class", tmp_path / "c"))
    assert "Expected one of: " in text and "01-self-attention" in text
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    "content", [None, "", "{}", "not json", '{"cells": 1}', "\x00"]
)
def test_a_file_that_is_no_notebook(tmp_path, content):
    path = tmp_path / "self-attention.ipynb"
    if content is not None:
        path.write_text(content)
    with pytest.raises(CourseError, match="self-attention"):
        check_notebook(path)


def test_the_command_says_so_in_one_line(tmp_path):
    text = told_off(course("check", tmp_path / "none.ipynb"))
    assert text == f"course: There is no file {tmp_path / 'none.ipynb'}."


@pytest.fixture(scope="module")
def released():
    return nbformat.read(student_notebook(EXERCISE), 4)


def test_check_shows_points_and_the_mistake(tmp_path, released):
    wrong = EXERCISE.misconceptions[0]
    answers = right_answers(EXERCISE) | {wrong.piece: wrong.source}
    path = tmp_path / "self-attention.ipynb"
    nbformat.write(fill_in(released, answers), path)
    run = course("check", path)
    assert run.returncode == 1, run.stderr
    assert "NO    10  check-softmax" in run.stdout
    assert wrong.sentence in run.stdout
    assert "yes    8  check-project" in run.stdout


def test_check_of_a_right_notebook(tmp_path, released):
    path = tmp_path / "self-attention.ipynb"
    nbformat.write(fill_in(released, right_answers(EXERCISE)), path)
    run = course("check", path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "92 of 92 points so far" in run.stdout


def test_an_error_in_an_answer_is_told_with_its_line(tmp_path, released):
    """The released notebook itself, with the library that it carries."""
    wrong = next(a for a in EXERCISE.misconceptions if ".T\n" in a.source + "\n")
    answers = right_answers(EXERCISE) | {wrong.piece: wrong.source}
    path = tmp_path / "self-attention.ipynb"
    nbformat.write(fill_in(released, answers), path)
    verdicts = {v.name: v for v in check_notebook(path)}
    report = verdicts["check-attention-scores"].report
    assert "line 2: return queries @ keys.T" in report
    assert wrong.sentence in report
