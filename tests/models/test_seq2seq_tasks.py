"""The trainings of chapter 14: every task can be learnt from, measured and read."""

import dataclasses

import pytest
import torch

from solutions.seq2seq_tasks import (
    LANGUAGES,
    LENGTHS,
    RECIPES,
    UNSEEN,
    LongTask,
    ManyToManyTask,
    PrefixTask,
    numbers_apart,
)
from solutions.training import Training, seed_everything

TINY = {"d_model": 32, "num_layers": 1, "num_heads": 2, "batch": 16, "length": 2}
PAIRS = ("t5", "bart", "m2m100")


def tiny(name):
    changes = TINY | {"steps": 15, "warmup": 1, "rate": 3e-3}
    return dataclasses.replace(RECIPES[name].presets["cpu"], **changes)


@pytest.mark.parametrize("name", PAIRS)
def test_a_task_is_learnt_from_measured_and_read(name):
    generator = seed_everything(0)
    task = RECIPES[name].new_task(tiny(name), False)
    training = Training(task.model, 3e-3)
    for _ in range(15):
        total, count = task.loss(task.model, task.batch(generator))
        training.step(total / count)
    assert training.losses[-1] < 0.9 * training.losses[0]
    task.model.eval()
    with torch.no_grad():
        assert 0 <= task.measure(task.model) <= 1
        assert all(
            isinstance(text, str) for pair in task.samples(task.model) for text in pair
        )


@pytest.mark.parametrize("name", PAIRS)
def test_the_control_lacks_what_the_task_is_about(name):
    recipe = RECIPES[name]
    batches = [
        recipe.new_task(tiny(name), control).batch(torch.Generator().manual_seed(1))
        for control in (False, True)
    ]
    different = [not torch.equal(a, b) for a, b in zip(*batches, strict=True)]
    assert any(different)


def test_no_number_is_both_learnt_and_asked():
    known, held_out = numbers_apart(1000, 50)
    assert not set(known) & set(held_out) and len(known) + len(held_out) == 1000


def test_one_direction_is_never_learnt():
    task = ManyToManyTask(tiny("m2m100"), False)
    names = [task.ids[task.names[code]] for code in LANGUAGES]
    generator, seen = torch.Generator().manual_seed(0), set()
    for _ in range(60):
        source, target = task.batch(generator)
        seen |= set(zip(source[:, 0].tolist(), target[:, 0].tolist(), strict=True))
    unseen = tuple(names[LANGUAGES.index(code)] for code in UNSEEN)
    assert unseen not in seen and len(seen) == 19
    blind = ManyToManyTask(tiny("m2m100"), True)
    assert len(set(blind.batch(generator)[1][:, 0].tolist())) == 1


def test_without_a_prefix_the_task_cannot_be_told():
    generator = torch.Generator().manual_seed(0)
    task = PrefixTask(tiny("t5"), True)
    asked = {
        tuple(task.pair(x, 42, generator)[0]) for x in ("Korean", "digits", "parity")
    }
    assert len(asked) == 1


def test_answers_stand_behind_the_first_eighth_of_long_documents():
    preset = dataclasses.replace(
        RECIPES["bigbird"].presets["cpu"], d_model=16, num_heads=2, num_layers=1
    )
    generator = seed_everything(0)
    tasks = [LongTask(preset, control) for control in (False, True)]
    lengths = {tasks[0].batch(generator)[0].shape[1] for _ in range(20)}
    assert lengths == set(LENGTHS)
    tokens, answers = tasks[0].documents(tasks[0].known, 4096, 2, generator)
    found = tokens == answers[:, None]
    assert (found.sum(1) == 64).all() and not found[:, :512].any()
    tokens, answers = tasks[1].documents(tasks[1].known, 4096, 2, generator)
    assert tokens.shape == (2, 512) and not (tokens == answers[:, None]).any()


def test_bigbird_learns_and_draws_its_blocks_in_training_only():
    preset = dataclasses.replace(
        RECIPES["bigbird"].presets["cpu"], d_model=16, num_heads=2, num_layers=1
    )
    generator = seed_everything(0)
    task = LongTask(preset, False)
    drawn = [task.model.stack.sparse_blocks(256) for _ in range(2)]
    assert drawn[0] != drawn[1]
    task.model.eval()
    used = [task.model.stack.sparse_blocks(256) for _ in range(2)]
    assert used[0] == used[1]
    training = Training(task.model.train(), 3e-3)
    for _ in range(8):
        batch = task.documents(task.known, 256, 8, generator)
        total, count = task.loss(task.model, batch)
        training.step(total / count)
    assert training.losses[-1] < training.losses[0]
