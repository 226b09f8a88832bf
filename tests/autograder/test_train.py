"""Models are trained from the shell, from pieces of one's own too, and shown."""

import json
import re
from dataclasses import replace

import pytest
from test_mine import SOFTMAX, notebook
from typer.testing import CliRunner

from autograder.cli import LOOK, app
from autograder.errors import CourseError
from autograder.mine import harvest, load
from autograder.showcase import write_showcase
from autograder.train import train_model
from solutions.recipes import RECIPES

TINY = {
    "steps": 3,
    "batch": 2,
    "warmup": 1,
    "d_model": 16,
    "num_layers": 1,
    "num_heads": 2,
    "length": 16,
}


@pytest.fixture
def tiny(monkeypatch):
    """Make GPT-2's training so small that it takes no time."""
    recipe = RECIPES["gpt2"]
    preset = replace(recipe.presets["cpu"], **TINY)
    monkeypatch.setitem(RECIPES, "gpt2", replace(recipe, presets={"cpu": preset}))


def test_a_training_leaves_a_curve_and_what_was_measured(tmp_path, tiny):
    seen = []
    train_model("gpt2", "cpu", tmp_path, on_step=lambda step, loss: seen.append(step))
    assert seen == [1, 2, 3]
    kept = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert len(kept["losses"]) == 3 and kept["value"] > 0 and kept["samples"]
    assert "<svg" in (tmp_path / "curve.svg").read_text(encoding="utf-8")
    train_model("gpt2", "cpu", tmp_path, on_step=lambda step, loss: seen.append(step))
    assert seen == [1, 2, 3]


def test_the_table_of_trainings_shows_the_range_over_seeds(tmp_path, tiny):
    words = ["bench", "train", "gpt2", "--seeds", "2", "--folder", str(tmp_path)]
    told = CliRunner().invoke(app, words)
    assert told.exit_code == LOOK, told.output  # three steps reach no band
    rows = [line.split() for line in told.output.splitlines() if "gpt2" in line]
    kept = [json.loads(f.read_text("utf-8")) for f in tmp_path.rglob("result.json")]
    for row, control in zip(rows, (False, True), strict=True):
        values = [one["value"] for one in kept if one["control"] == control]
        assert row[1:4] == [f"{min(values):.3g}", "to", f"{max(values):.3g}"]
        assert "NOT HELD" in " ".join(row)


def test_what_cannot_be_trained_is_said(tmp_path, tiny):
    with pytest.raises(CourseError, match="no model 'gpt9'"):
        train_model("gpt9", "cpu", tmp_path)
    with pytest.raises(CourseError, match="no preset 'tpu'"):
        train_model("gpt2", "tpu", tmp_path)
    train_model("gpt2", "cpu", tmp_path)
    with pytest.raises(CourseError, match="holds another training"):
        train_model("gpt2", "cpu", tmp_path, seed=1)


def test_models_from_pieces_of_ones_own_become_a_page(tmp_path, tiny):
    path = notebook(tmp_path / "self-attention.ipynb", SOFTMAX)
    mine = tmp_path / "shown"
    harvest([path], mine)
    own = load(mine, "recipes").RECIPES
    own["gpt2"] = replace(own["gpt2"], presets=RECIPES["gpt2"].presets)
    twins = load(mine, "parity").TWINS
    for name in [name for name in twins if name != "gpt2"]:
        del twins[name]
    page = write_showcase(mine, ("gpt2",), tmp_path / "page", say=lambda text: None)
    text = page.read_text(encoding="utf-8")
    assert "self_attention.softmax" in text and "GPT2LMHeadModel" in text
    assert text.count("<svg") == 1 and "The class " in text
    assert not re.search(r"""(src|href)=["']?(http|//)""", text)
