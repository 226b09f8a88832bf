"""A learner's own pieces become a package that the course can run on."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.check import check_notebook
from autograder.errors import CourseError
from autograder.exercise import find_exercise
from autograder.mine import harvest, is_mine
from autograder.train import train_translator

SOFTMAX = (
    "def softmax(scores):\n    my_mark = 'own'\n    return F.softmax(scores, dim=-1)"
)
UNSOLVED = "def softmax(scores):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
CHECK = "# check-softmax · 10 points\ncheck = Check('softmax')"


def notebook(path: Path, *sources: str, marked: bool = True) -> Path:
    """Write a notebook of the first exercise with a few cells, and give its path."""
    cells = [new_code_cell(source) for source in (*sources, CHECK)]
    if marked:
        cells[0].metadata["nbgrader"] = {"grade_id": "softmax", "solution": True}
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=cells), path)
    return path


def run(folder: Path, code: str) -> str:
    """Run code in a new process that finds a package in a folder."""
    places = os.pathsep.join([str(folder), str(Path(__file__).parents[2])])
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": places},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize("marked", [True, False], ids=["by grade id", "by what it is"])
def test_a_solved_piece_replaces_the_reference(tmp_path, marked):
    path = notebook(tmp_path / "self-attention.ipynb", SOFTMAX, marked=marked)
    pieces = harvest([path], tmp_path / "mine")
    assert {p.name for p in pieces if p.notebook} == {"softmax"}
    assert "my_mark" in (tmp_path / "mine" / "self_attention.py").read_text()
    said = run(
        tmp_path,
        "import torch, mine, mine.self_attention as own, mine.multi_head as heads\n"
        "print(own.softmax(torch.zeros(2, 4))[0, 0].item())\n"
        "print(heads.MultiHeadAttention(8, 2)(torch.zeros(1, 3, 8)).shape)\n"
        "print(heads.attention.__module__, mine.PIECES['self_attention.softmax'],\n"
        "      mine.PIECES['self_attention.project'])",
    )
    assert said.splitlines() == [
        "0.25",
        "torch.Size([1, 3, 8])",
        "mine.self_attention self-attention.ipynb None",
    ]


def test_an_exercise_may_ask_for_pieces_of_several_modules(tmp_path):
    own = 'def put_back(inputs, answer, sentinels):\n    return "own"'
    cells = [new_code_cell(own), new_code_cell("# check-put-back · 6 points\n")]
    path = tmp_path / "encoder-decoder-models.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    harvest([path], tmp_path / "mine")
    assert '"own"' in (tmp_path / "mine" / "denoising.py").read_text()
    exercise = find_exercise("14-encoder-decoder-models")
    modules = {name: exercise.module_of(name) for name in exercise.pieces}
    assert modules["put_back"] == "denoising"
    assert modules["t5_logits"] == "encoder_decoders"
    assert modules["bigbird_blocks"] == "block_sparse"


def test_the_newer_of_two_notebooks_counts(tmp_path):
    old = notebook(tmp_path / "work/old.ipynb", SOFTMAX.replace("own", "old"))
    new = notebook(tmp_path / "work/new.ipynb", SOFTMAX)
    os.utime(old, (1, 1))
    harvest([tmp_path / "work"], tmp_path / "mine")
    assert "my_mark = 'own'" in (tmp_path / "mine/self_attention.py").read_text()
    os.utime(new, (0, 0))
    harvest([tmp_path / "work"], tmp_path / "mine")
    assert "my_mark = 'old'" in (tmp_path / "mine/self_attention.py").read_text()


@pytest.mark.parametrize("source", [UNSOLVED, "def softmax(scores)\n    return 1", "x"])
def test_what_is_not_solved_is_not_taken(tmp_path, source):
    path = notebook(tmp_path / "self-attention.ipynb", source)
    with pytest.raises(CourseError, match="No solved piece"):
        harvest([path], tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


def test_nothing_of_somebody_elses_is_overwritten(tmp_path):
    path = notebook(tmp_path / "self-attention.ipynb", SOFTMAX)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/chapter.txt").write_text("three years of work")
    with pytest.raises(CourseError, match="holds something else"):
        harvest([path], tmp_path / "thesis")
    assert (tmp_path / "thesis/chapter.txt").exists()
    with pytest.raises(CourseError, match="cannot be the name of a package"):
        harvest([path], tmp_path / "json")
    with pytest.raises(CourseError, match="There is no"):
        harvest([tmp_path / "nowhere.ipynb"], tmp_path / "mine")


def test_a_notebook_is_checked_with_pieces_of_ones_own(tmp_path):
    path = notebook(
        tmp_path / "self-attention.ipynb", SOFTMAX.replace("dim=-1", "dim=0")
    )
    harvest([path], tmp_path / "mine")
    later = tmp_path / "later.ipynb"
    cells = [
        "import sys, types, torch\n"
        "sys.modules['checks'] = types.SimpleNamespace(Check=None)\n"
        "import solutions.self_attention",
        "from checks import Check\nfrom solutions.self_attention import softmax",
        "# check-rows · 5 points\nassert softmax(torch.zeros(2, 4)).sum() == 2",
    ]
    nbformat.write(new_notebook(cells=[*map(new_code_cell, cells)]), later)
    assert check_notebook(later)[0].passed
    assert not check_notebook(later, mine=tmp_path / "mine")[0].passed
    with pytest.raises(CourseError, match="was not made by"):
        check_notebook(later, mine=tmp_path)


def test_a_translator_is_trained_from_pieces_of_ones_own(tmp_path):
    path = notebook(tmp_path / "self-attention.ipynb", SOFTMAX)
    harvest([path], tmp_path / "trained")
    assert is_mine(tmp_path / "trained")
    seen = []
    found = train_translator(tmp_path / "trained", steps=2, on_step=seen.append)
    assert seen == [1, 2] and found.own == ["self_attention.softmax"]
    assert "transformer.Transformer" in found.borrowed
    assert 0 <= found.exact_match <= 1 and len(found.samples) == 5
    with pytest.raises(CourseError, match="was not made by"):
        train_translator(tmp_path)
