"""Counting from a card gives what a model has, and what was published."""

import pytest
import torch

from solutions.families import NAMED
from solutions.model_card import (
    cache_bytes,
    counted_parameters,
    flops_per_token,
    layer_parameters,
    misfits,
    multiplied_weights,
    nearest,
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
    "mistral-7b": 7_241_732_096,
    "qwen2.5-0.5b": 494_032_768,
    "qwen2.5-7b": 7_615_616_512,
    "llama3-8b": 8_030_261_248,
}


@pytest.mark.parametrize("name", NAMED)
def test_a_card_counts_what_a_model_has(name):
    assert parameters(NAMED[name])["all"] == counted_parameters(NAMED[name])


@pytest.mark.parametrize(("name", "count"), PUBLISHED.items())
def test_published_counts(name, count):
    assert parameters(NAMED[name])["all"] == count


def test_gpt3_has_its_175_billion():
    assert 174e9 < parameters(NAMED["gpt3"])["all"] < 176e9


@pytest.mark.parametrize("name", ["gpt2", "llama3-8b", "bert-base", "t5-small"])
def test_flops_are_those_that_pytorch_counts(name):
    from torch.utils.flop_counter import FlopCounterMode

    card = NAMED[name]
    with torch.device("meta"):
        model = Model(card)
        tokens = torch.zeros(1, 16, dtype=torch.long)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(tokens, tokens if card.decoder_layers else None)
    assert counter.get_total_flops() == 16 * flops_per_token(card, 16)


def test_a_layer_is_what_pytorch_has():
    sizes = {"vocab_size": 9, "d_model": 20, "num_layers": 1, "num_heads": 2, "d_ff": 7}
    for kind, cross in (
        (torch.nn.TransformerEncoderLayer, False),
        (torch.nn.TransformerDecoderLayer, True),
    ):
        theirs = kind(20, 2, 7, device="meta")
        count = sum(parameter.numel() for parameter in theirs.parameters())
        assert layer_parameters(ModelConfig(**sizes), cross) == count


def test_cache_and_bounds():
    card = NAMED["llama-7b"]
    assert cache_bytes(card, 1) == 2 * 32 * 32 * 128 * 2
    times = seconds_for_token(card, 2048, 2e12, 3e14)
    assert times["at least"] == times["reading"] > times["computing"]
    read = 2 * multiplied_weights(card) + 8 * cache_bytes(card, 2048)
    times = seconds_for_token(card, 2048, 2e12, 3e14, batch=8)
    assert times["reading"] == read / 2e12
    assert training_flops(10, 100) == 6000


def test_what_does_not_fit_is_named():
    own = {"a": torch.zeros(2, 3), "b": torch.zeros(4), "c": torch.zeros(1)}
    found = {"a": torch.zeros(3, 2), "b": torch.zeros(4), "z": torch.zeros(1)}
    expected = {"missing": ["c"], "left over": ["z"], "of another shape": ["a"]}
    assert misfits(found, own) == expected


def test_the_nearest_point_the_same_way():
    sentences = torch.tensor([[0.0, 9.0], [0.5, 0.0], [-2.0, 0.0]])
    found = nearest(torch.tensor([3.0, 0.0]), sentences, 5)
    assert found == [(1, 1.0), (0, 0.0), (2, -1.0)]


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
