"""The translation task: its split, its measure, and a training that goes down."""

import torch

from solutions.transformer import Transformer
from solutions.translation import exact_match, fit, number_task, translations


def test_nothing_that_is_tested_on_was_learned_from():
    task = number_task(largest=1000, known=200, held_out=50)
    assert len(task.known) == 200 and len(task.held_out) == 50
    assert not set(task.known) & set(task.held_out)
    assert number_task(largest=1000, known=200, held_out=50) == task


def test_training_lowers_the_loss_and_translations_are_symbols():
    task = number_task(largest=100, known=60, held_out=20)
    torch.manual_seed(0)
    model = Transformer(len(task.vocabulary), 16, 2, 32, 1, dropout=0.0)
    history = fit(model, task, 3e-3, steps=20, batch=16)
    assert history.losses[-1] < history.losses[0]
    written = translations(model, task, task.held_out)
    assert len(written) == 20
    assert all(set(row) <= set(task.vocabulary.symbols) for row in written)
    assert 0 <= exact_match(model, task, task.held_out) <= 1
