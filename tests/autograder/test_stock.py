"""nbgrader's own commands in a class folder, run as a teacher would run them."""

import csv
import html
import json
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

import nbformat
import pytest
import test_attacks
from nbformat.v4 import new_code_cell, new_output

from autograder.classroom import refusal
from autograder.release import write_source

pytestmark = [pytest.mark.stock, pytest.mark.timeout(600)]

NAME, NOTEBOOK = "01-self-attention", "self-attention.ipynb"
STUDENTS = ("ada", "ben", "cy")
ESSAY = "in-your-own-words"
BEGIN, END = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"


def nbgrader(classroom, environment, *arguments):
    """Run a command of nbgrader in the class folder; the environment is not active."""
    return subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=classroom.root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )


@pytest.fixture(scope="module")
def stock(own_class, bare_environment):
    """Run a whole term with stock commands, in a copy of the small class."""
    released = own_class.root / "release" / NAME / NOTEBOOK
    before = released.read_bytes()
    commands = {
        "generate_assignment": (NAME, "--force"),
        "autograde": (NAME,),
        "generate_feedback": (NAME,),
        "export": ("--to", "stock.csv"),
    }
    ended = {
        command: nbgrader(own_class, bare_environment, command, *arguments)
        for command, arguments in commands.items()
    }
    return SimpleNamespace(classroom=own_class, before=before, ended=ended)


@pytest.mark.parametrize(
    "command", ["generate_assignment", "autograde", "generate_feedback", "export"]
)
def test_command_ends_well_without_activation(stock, command):
    ended = stock.ended[command]
    assert ended.returncode == 0, ended.stderr[-3000:]


def test_release_by_nbgrader_and_by_course_are_the_same_bytes(stock):
    after = stock.classroom.root / "release" / NAME / NOTEBOOK
    assert after.read_bytes() == stock.before


def test_due_date_is_kept(stock):
    with stock.classroom.gradebook() as gradebook:
        due = gradebook.find_assignment(NAME).duedate
    assert f"{due:%Y-%m-%d %H:%M}" == "2027-03-12 23:59"


def test_scores_are_those_of_the_checks(stock):
    with stock.classroom.gradebook() as gradebook:
        found = {s: gradebook.find_submission(NAME, s) for s in STUDENTS}
        scores = {name: one.score for name, one in found.items()}
        waiting = {name: one.needs_manual_grade for name, one in found.items()}
        most = {one.max_score for one in found.values()}
    assert most == {100}
    assert scores == {"ada": 92, "ben": 84, "cy": 0}
    assert waiting == {"ada": True, "ben": True, "cy": False}


def test_only_the_written_answer_waits_for_a_teacher(stock):
    with stock.classroom.gradebook() as gradebook:
        notebook = gradebook.find_submission_notebook("self-attention", NAME, "ada")
        waiting = [g.name for g in notebook.grades if g.needs_manual_grade]
    assert waiting == [ESSAY]


@pytest.mark.parametrize("student", STUDENTS)
def test_autograded_notebook_has_been_run(stock, student):
    path = stock.classroom.root / "autograded" / student / NAME / NOTEBOOK
    ran = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    assert all(cell.execution_count for cell in ran)


@pytest.mark.parametrize("student", STUDENTS)
def test_feedback_shows_no_line_of_a_hidden_test(stock, student):
    text = text_of(feedback(stock, student))
    visible, hidden = lines_of_tests(stock.classroom)
    assert len(hidden) > 40
    assert [line for line in visible if bare(line) not in text] == []
    assert [line for line in hidden if bare(line) in text] == []


def test_feedback_still_tells_that_a_hidden_test_failed(stock):
    assert "shuffle: " in html.unescape(feedback(stock, "ben"))
    assert "CheckFailed" in feedback(stock, "ben")


def test_export_has_every_student(stock):
    path = stock.classroom.root / "stock.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    scores = {name: float(row["score"]) for name, row in rows.items()}
    assert scores == {"ada": 92, "ben": 84, "cy": 0}
    assert {row["assignment"] for row in rows.values()} == {NAME}


def feedback(stock, student):
    path = stock.classroom.root / "feedback" / student / NAME / "self-attention.html"
    return path.read_text(encoding="utf-8")


def text_of(page):
    """Give the text of a page as a reader sees it, without any spacing."""
    body = page.split("<body", 1)[1]
    return bare(html.unescape(re.sub(r"<[^>]*>", "", body)))


def bare(text):
    return re.sub(r"\s+", "", text)


def lines_of_tests(classroom):
    """List the telling lines of the source's check cells, visible and hidden ones.

    A line that also stands somewhere in the released notebook hides nothing.
    """
    source = nbformat.read(classroom.root / "source" / NAME / NOTEBOOK, as_version=4)
    released = nbformat.read(classroom.root / "release" / NAME / NOTEBOOK, as_version=4)
    shown = bare("\n".join(cell.source for cell in released.cells))
    visible, hidden = [], []
    for cell in source.cells:
        inside = False
        for line in cell.source.split("\n"):
            inside = (inside or line == BEGIN) and line != END
            if line in (BEGIN, END) or len(bare(line)) < 16:
                continue
            if inside and bare(line) not in shown:
                hidden.append(line)
            elif not inside and BEGIN in cell.source:
                visible.append(line)
    return visible, hidden


# --- what is not released -----------------------------------------------------------

SOLUTION = """\
def attention_scores(queries, keys):
    return torch.matmul(queries, keys.transpose(-2, -1))
"""


def check_cell(notebook):
    return next(c for c in notebook.cells if c.id == "check-softmax")


def twin(folder, notebook, exercise):
    (folder / "self-attention.py").write_text(exercise.pieces["softmax"], "utf-8")
    return ["self-attention.py", "twin"]


def misspelt(folder, notebook, exercise):
    cell = check_cell(notebook)
    cell.source = cell.source.replace(BEGIN, "### BEGIN HIDDEN TEST")
    number = 1 + notebook.cells.index(cell)
    return [NOTEBOOK, f"cell {number}", "misspelt marker", "### BEGIN HIDDEN TEST"]


def plain_cell(folder, notebook, exercise):
    notebook.cells.append(new_code_cell(exercise.pieces["softmax"], id="left-over"))
    return [NOTEBOOK, f"cell {len(notebook.cells)} (left-over)", "source"]


def rewritten(folder, notebook, exercise):
    notebook.cells.append(new_code_cell(SOLUTION, id="another-way"))
    return [NOTEBOOK, "(another-way)", "defines attention_scores with a body"]


def in_metadata(folder, notebook, exercise):
    cell = check_cell(notebook)
    cell.metadata["note"] = {"to": ["self", exercise.pieces["softmax"]]}
    return [NOTEBOOK, "(check-softmax)", "metadata"]


def in_output(folder, notebook, exercise):
    cell, text = check_cell(notebook), exercise.pieces["softmax"]
    cell.outputs = [new_output("stream", name="stdout", text=text)]
    return [NOTEBOOK, "(check-softmax)", "outputs"]


SPOILS = [twin, misspelt, plain_cell, rewritten, in_metadata, in_output]


@pytest.fixture(scope="module")
def other_class(copy_class):
    """Return a class whose source is spoilt again and again."""
    return copy_class()


@pytest.fixture
def spoil(other_class, exercise):
    """Return a function that writes the source with something wrong in it.

    It gives the words that the refusal must have.
    """
    folder = other_class.root / "source" / NAME
    settings = other_class.root / "nbgrader_config.py"
    original = settings.read_bytes()

    def apply(spoiling):
        path = write_source(exercise, folder)
        notebook = nbformat.read(path, as_version=4)
        words = spoiling(folder, notebook, exercise)
        nbformat.write(notebook, path)
        if spoiling is in_output:  # stock clears outputs, unless it is told not to
            with settings.open("a", encoding="utf-8") as file:
                file.write("\nc.ClearOutput.enabled = False\n")
        return words

    shutil.rmtree(other_class.root / "release", ignore_errors=True)
    yield apply
    settings.write_bytes(original)


@pytest.mark.parametrize("spoiling", SPOILS, ids=lambda spoiling: spoiling.__name__)
def test_generate_assignment_refuses(other_class, spoil, spoiling):
    words = spoil(spoiling)
    result = other_class.api().generate_assignment(NAME, force=True, create=True)
    assert result["success"] is False
    told = refusal(result)
    assert [word for word in words if word not in told] == [], told
    assert [*other_class.root.glob(f"release/{NAME}/*")] == []


def test_generate_assignment_refuses_on_the_command_line(
    other_class, spoil, bare_environment
):
    words = spoil(misspelt)
    ended = nbgrader(
        other_class, bare_environment, "generate_assignment", NAME, "--force"
    )
    assert ended.returncode != 0
    assert [word for word in words if word not in ended.stderr] == [], ended.stderr
    assert [*other_class.root.glob(f"release/{NAME}/*")] == []


def test_an_output_that_tells_something_is_cleared(other_class, spoil, exercise):
    spoil(in_output)
    settings = other_class.root / "nbgrader_config.py"
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace("c.ClearOutput", "# "), encoding="utf-8")
    result = other_class.api().generate_assignment(NAME, force=True, create=True)
    assert result["success"] is True, refusal(result)
    released = json.loads((other_class.root / "release" / NAME / NOTEBOOK).read_text())
    assert not any(cell.get("outputs") for cell in released["cells"])


def test_source_as_it_was_written_is_released(other_class, spoil):
    spoil(lambda folder, notebook, exercise: [])
    result = other_class.api().generate_assignment(NAME, force=True, create=True)
    assert result["success"] is True, refusal(result)


# --- hostile submissions, graded by nbgrader's own command ------------------------


@pytest.fixture
def two_cells(tmp_path):
    """Return a class with a small assignment, its released notebook, and a mark.

    Nothing in a submission may be able to write the mark: it lies outside every jail.
    """
    room, released = test_attacks.new_class(tmp_path / "class")
    return SimpleNamespace(room=room, released=released, mark=tmp_path / "mark")


def graded_by_stock(case, notebook):
    """Hand in a notebook and let nbgrader autograde it; give the marks."""
    path = case.room.root / "submitted" / "eve" / test_attacks.NAME / "hw1.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    result = case.room.api().autograde(test_attacks.NAME, "eve", create=True)
    assert result["success"], result["log"]
    with case.room.gradebook() as gradebook:
        one = gradebook.find_submission_notebook("hw1", test_attacks.NAME, "eve")
        return {grade.name: grade.auto_score for grade in one.grades}


@pytest.mark.case(
    "S4-stock",
    "an answer that says it is a locked cell, to nbgrader's own command",
    "it runs in the jail only",
)
@pytest.mark.parametrize("says", [{"locked": True}, {"grade": True, "points": 9}])
def test_an_answer_that_says_it_is_the_graders_runs_in_the_jail_only(two_cells, says):
    own = f"import os\nos.system('touch {two_cells.mark}')\n"
    right = test_attacks.RIGHT
    answers = right | {"square": own + right["square"]}
    notebook = test_attacks.answered(two_cells.released, answers)
    for cell in notebook.cells:
        if cell.source.startswith(own):
            cell.metadata["nbgrader"] |= says
    marks = graded_by_stock(two_cells, notebook)
    assert not two_cells.mark.exists()
    assert {n: marks[n] for n in test_attacks.POINTS} == test_attacks.FULL


@pytest.mark.case(
    "S4-stock-links",
    "links to the source in a submission, to nbgrader's own command",
    "none of them is followed",
)
def test_links_to_the_source_are_not_followed(two_cells):
    room, name = two_cells.room, test_attacks.NAME
    source = room.root / "source" / name / "hw1.ipynb"
    folder = room.root / "submitted" / "eve" / name
    folder.mkdir(parents=True)
    (folder / "data.txt").symlink_to(source)
    spy = "def square(x):\n    return x * x if open('data.txt').read() else 0"
    answers = test_attacks.RIGHT | {"square": spy}
    notebook = test_attacks.answered(two_cells.released, answers)
    assert graded_by_stock(two_cells, notebook)["test-square"] == 0
    assert not (room.root / "autograded" / "eve" / name / "data.txt").exists()
    (folder / "hw1.ipynb").unlink()
    (folder / "hw1.ipynb").symlink_to(source)
    result = room.api().autograde(name, "eve", force=True, create=True)
    assert not result["success"] and "is a link" in refusal(result)
