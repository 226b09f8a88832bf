"""Counting from a card gives what a model has, and what was published."""

import pytest
import torch

from solutions.families import NAMED
from solutions.model_card import (
    cache_bytes,
    counted_parameters,
    flops_per_token,
    parameters,
    seconds_for_token,
    training_flops,
)
from solutions.models import Model, ModelConfig

#: The numbers of the reference library's classes with these heads.
PUBLISHED = {
    "bert-base": 109_514_298,
    "distilbert": 66_985_530,
    "roberta-base": 124_697_433,
    "gpt": 116_534_784,
    "gpt2": 124_439_808,
    "gpt2-xl": 1_557_611_200,
    "t5-small": 60_506_624,
    "t5-base": 222_903_552,
    "m2m100-418m": 483_905_536,
    "llama-7b": 6_738_415_616,
}


@pytest.mark.parametrize("name", NAMED)
def test_a_card_counts_what_a_model_has(name):
    assert parameters(NAMED[name])["all"] == counted_parameters(NAMED[name])


@pytest.mark.parametrize(("name", "count"), PUBLISHED.items())
def test_published_counts(name, count):
    assert parameters(NAMED[name])["all"] == count


def test_gpt3_has_its_175_billion():
    assert 174e9 < parameters(NAMED["gpt3"])["all"] < 176e9


def test_flops_are_those_that_pytorch_counts():
    from torch.utils.flop_counter import FlopCounterMode

    for name in ("gpt2", "llama-7b"):
        card = NAMED[name]
        with torch.device("meta"):
            model = Model(card)
            tokens = torch.zeros(1, 64, dtype=torch.long)
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            model(tokens)
        ours = 64 * flops_per_token(card, 64)
        assert abs(counter.get_total_flops() - ours) < 0.02 * ours


def test_cache_and_bounds():
    card = NAMED["llama-7b"]
    assert cache_bytes(card, 1) == 2 * 32 * 32 * 128 * 2
    times = seconds_for_token(card, 2048, 2e12, 3e14)
    assert times["at least"] == times["reading"] > times["computing"]
    assert training_flops(10, 100) == 6000


@pytest.mark.parametrize(
    "wrong",
    [{"norm": "batch"}, {"num_heads": 5}, {"head": "none"}, {"positions": "up"},
     {"activation": "sine"}, {"num_kv_heads": 3},
     {"causal": True, "decoder_layers": 1}],
)  # fmt: skip
def test_a_card_that_does_not_fit_is_refused(wrong):
    sizes = {"vocab_size": 9, "d_model": 8, "num_layers": 1, "num_heads": 4, "d_ff": 8}
    with pytest.raises(ValueError):
        ModelConfig(**sizes | wrong)
