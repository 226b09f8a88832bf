"""The trainings of chapter 11, a few steps of each."""

from dataclasses import replace

import pytest
import torch

from solutions import encoder_tasks
from solutions.encoder_tasks import RECIPES, SPOKEN, packed_pairs, vocabulary_of
from solutions.runs import mean_loss, run
from solutions.training import Training

TINY = {"batch": 8, "d_model": 16, "num_layers": 1, "num_heads": 2, "warmup": 5}


def tiny(name, **more):
    return replace(RECIPES[name].presets["cpu"], **TINY | more)


@pytest.fixture(autouse=True)
def few_numbers(monkeypatch):
    """The tables are made of numbers below 100; a training takes less time to begin."""
    monkeypatch.setattr(encoder_tasks, "HUNDREDS", 100)
    monkeypatch.setattr(encoder_tasks, "PAIRS", 100)
    monkeypatch.setattr(encoder_tasks, "THOUSANDS", 100)


@pytest.mark.parametrize("name", RECIPES)
def test_a_task_is_learnt_and_measured(name):
    torch.manual_seed(0)
    task = RECIPES[name].new_task(tiny(name, steps=15), False)
    generator = torch.Generator().manual_seed(1)
    batch = task.batch(generator)
    assert {len(table) for table in batch} == {8}
    training = Training(task.model, 1e-2)
    for _ in range(15):
        training.step(mean_loss(*task.loss(task.model, batch)))
    assert training.losses[-1] < training.losses[0]
    task.model.eval()
    with torch.no_grad():
        assert task.measure(task.model) >= 0
        shown = task.samples(task.model)
    assert len(shown) == 3 and all(isinstance(s, str) for pair in shown for s in pair)
    assert any("<mask>" in asked for asked, _ in shown)
    assert all(len(a.split()) == len(b.split()) for a, b in shown)


def test_the_controls_leave_out_what_it_is_about():
    tasks = {
        name: [RECIPES[name].new_task(tiny(name, steps=1), c) for c in (False, True)]
        for name in RECIPES
    }
    models = [task.model.model.config.causal for task in tasks["bert"]]
    assert models == [False, True]
    same = []
    for task in tasks["roberta"]:
        holes = {}
        for seed in range(40):
            hidden, _, tokens = task.batch(torch.Generator().manual_seed(seed))
            for row, key in zip(hidden.tolist(), tokens.tolist(), strict=True):
                holes.setdefault(tuple(key), set()).add(tuple(row))
        same.append(all(len(found) == 1 for found in holes.values()))
    assert same == [False, True]
    assert [task.teacher is None for task in tasks["distilbert"]] == [False, True]
    known = [task.known["tokens"] for task in tasks["xlm"]]
    assert known[0].tolist() != known[1].tolist()


def test_a_student_begins_with_its_teachers_first_layer():
    task = RECIPES["distilbert"].new_task(tiny("distilbert", steps=2), False)
    given = task.teacher.stack.blocks[0].state_dict()
    own = task.model.stack.blocks[0].state_dict()
    assert len(task.teacher.stack.blocks) == 2
    assert all(torch.equal(own[name], given[name]) for name in given)
    assert not any(p.requires_grad for p in task.teacher.parameters())


def test_pairs_say_the_same_number_or_another():
    vocabulary = vocabulary_of(10, SPOKEN)
    both = packed_pairs(vocabulary, list(range(60)), strangers=True)
    assert 0.2 < both["follows"].float().mean() < 0.8
    together = packed_pairs(vocabulary, list(range(60)), strangers=False)
    assert together["follows"].all()
    assert both["tokens"].shape == both["types"].shape == (60, 11)
    first = vocabulary.symbols[together["tokens"][0, 1]]
    assert first == "zero" and len(together["tokens"]) < 60


def test_a_run_gives_a_result():
    name = "roberta"
    recipe = replace(RECIPES[name], presets={"cpu": tiny(name, steps=3)})
    result = run(name, recipe)
    assert len(result.losses) == 3 and result.value > 0
