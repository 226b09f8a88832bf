"""What the decoder models are trained for: batches, losses that fall, measures."""

from dataclasses import replace

import pytest
import torch

from solutions.data import kinds_of_text
from solutions.decoder_tasks import RECIPES, Judge
from solutions.runs import Preset, run

TINY = Preset(
    steps=15,
    batch=8,
    rate=3e-3,
    warmup=3,
    d_model=32,
    num_layers=2,
    num_heads=2,
    length=32,
)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_learns_measures_and_writes(name):
    recipe = replace(RECIPES[name], presets={"cpu": TINY})
    result = run(name, recipe)
    assert sum(result.losses[-3:]) < 0.9 * sum(result.losses[:3])
    assert result.value >= 0
    assert all(isinstance(text, str) for pair in result.samples for text in pair)


@pytest.mark.parametrize("name", RECIPES)
def test_the_control_leaves_something_out(name):
    batches, windows = [], []
    for control in (False, True):
        task = RECIPES[name].new_task(TINY, control)
        batches.append(task.batch(torch.Generator().manual_seed(0))[0])
        windows.append(task.model.config.windows)
    same_batch = batches[0].shape == batches[1].shape and batches[0].equal(batches[1])
    assert windows[0] != windows[1] or not same_batch


def test_bands_do_not_touch():
    for recipe in RECIPES.values():
        (low, high), (bad, worse) = recipe.band, recipe.control_band
        assert low < high and bad < worse
        assert high < bad or worse < low


def test_the_judge_tells_kinds_apart():
    texts = kinds_of_text()
    judge = Judge({kind: text[: len(text) * 9 // 10] for kind, text in texts.items()})
    right = [
        judge.kind_of(text[start : start + 64]) == kind
        for kind, text in texts.items()
        for start in range(len(text) * 9 // 10, len(text) - 64, 640)
    ]
    assert sum(right) / len(right) > 0.9


def test_examples_share_a_language_and_the_answer_is_left_out():
    task = RECIPES["gpt3"].new_task(TINY, False)
    (ids,) = task.batch(torch.Generator().manual_seed(1))
    for row in ids:
        lines = " ".join(task.vocabulary.words(row)).strip().split("\n")
        pairs = [line.strip().split(" => ") for line in lines]
        assert len(pairs) == task.SHOTS + 1
        languages = [
            said
            for said in task.said.values()
            if all(said[int(number)] == answer for number, answer in pairs)
        ]
        assert languages
