"""What the README says is run here, in the order in which it says it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.boundary.execute import SplitExecute
from autograder.demo import fill_in, right_answers
from autograder.exercise import find_exercise
from autograder.project import student_notebook

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXERCISE = find_exercise("01-self-attention")


def commands(heading):
    """Give the commands in the bash blocks under a heading."""
    section = README.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    blocks = re.findall(r"```bash\n(.*?)```", section, re.DOTALL)
    lines = "\n".join(blocks).split("\n")
    return [line for line in (line.split("#")[0].strip() for line in lines) if line]


def run(line, cwd):
    """Run a command of the README as a shell with the venv on its path would."""
    program, *words = line.split()
    assert program == "course"
    command = [sys.executable, "-m", "autograder.cli", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def solved():
    """The notebook of a learner who got everything right."""
    released = nbformat.read(student_notebook(EXERCISE), 4)
    return fill_in(released, right_answers(EXERCISE))


def test_the_learners_path(tmp_path, solved):
    nbformat.write(solved, tmp_path / "self-attention.ipynb")
    (line,) = commands("For the learner")
    told = run(line, tmp_path)
    assert told.returncode == 0, told.stderr
    assert "92 of 92 points" in told.stdout


def test_the_teachers_path(tmp_path, solved):
    release, *others = commands("For the teacher")
    told = run(release, tmp_path)
    assert told.returncode == 0, told.stderr
    place = re.search(r"hand in to (\S+)", README)[1].replace("STUDENT", "ada")
    (tmp_path / place).parent.mkdir(parents=True)
    nbformat.write(solved, tmp_path / place)
    for line in others:
        told = run(line, tmp_path)
        assert told.returncode == 0, told.stderr
    made = tmp_path / "my-class"
    grades = (made / "grades.csv").read_text(encoding="utf-8")
    assert "ada,01-self-attention,graded,92.0" in grades
    assert (made / "feedback/ada/01-self-attention/self-attention.html").exists()
    assert (made / "report/01-self-attention.html").exists()


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("line", commands("Two commands"))
def test_make_knows_the_two_commands(line):
    command = [*line.split(), "-n"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr


def test_every_link_and_folder_is_there():
    for target in re.findall(r"\]\((?!http)([^)]+)\)", README):
        assert (ROOT / target).exists()
    for folder in re.findall(r"^\| `(\w+)/`", README, re.MULTILINE):
        assert (ROOT / folder).is_dir()


def test_the_limits_that_the_teacher_reads_are_those_there_are():
    page = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
    said = re.findall(r"c\.SplitExecute\.(\w+) = ([\d_]+)", page)
    assert len(said) == 7
    for name, value in said:
        assert SplitExecute.class_traits()[name].default_value == float(value)
