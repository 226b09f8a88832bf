"""What tells T5, BART and M2M-100 apart: each function against the models' own code."""

import pytest
import torch

from solutions.denoising import draw_spans, put_back, span_corruption
from solutions.encoder_decoders import (
    bart_embeddings,
    real_places,
    t5_decoder,
    t5_decoder_bias,
    t5_logits,
)
from solutions.families import bart, m2m100, t5
from solutions.models import Block, Model

SIZES = {"vocab_size": 30, "d_model": 12, "num_heads": 3, "d_ff": 16}
SIZES |= {"num_layers": 2, "decoder_layers": 2}


@pytest.mark.parametrize(("query_len", "key_len"), [(7, 7), (1, 5), (3, 140)])
def test_the_bias_of_t5s_decoder(query_len, key_len):
    decoder = Model(t5(**SIZES)).decoder
    real = torch.ones(1, key_len, dtype=torch.bool)
    theirs = decoder.bias(real, query_len, 0, torch.zeros(1), False)[0]
    mine = t5_decoder_bias(decoder.relative.table.weight, query_len, key_len)
    assert torch.equal(mine.exp(), theirs.exp())


def test_the_attentions_of_t5s_decoder():
    """One head and no norms, as the function has them."""
    config = t5(**SIZES | {"num_heads": 1})
    blocks = [Block(config, cross=True) for _ in range(3)]
    x, memory, bias = torch.randn(2, 5, 12), torch.randn(2, 4, 12), torch.randn(5, 5)
    layers, expected = [], x
    for block in blocks:
        own, cross = block.attention.sublayer, block.cross_attention.sublayer
        expected = expected + own(expected, bias=bias)
        expected = expected + cross(expected, memory)
        layers.append(
            {f"W_{n}": getattr(own, f"W_{n}").weight.T for n in "qkvo"}
            | {f"C_{n}": getattr(cross, f"W_{n}").weight.T for n in "qkvo"}
        )
    assert torch.allclose(t5_decoder(x, memory, layers, bias), expected, atol=1e-5)


def test_the_head_of_t5():
    model, x = Model(t5(**SIZES)), torch.randn(2, 3, 12)
    assert torch.allclose(t5_logits(x, model.tokens.weight), model.head(x), atol=1e-6)


def test_the_embeddings_of_bart():
    model = Model(bart(**SIZES, max_len=20))
    inside, tokens = model.stack.embeddings, torch.randint(30, (2, 6))
    mine = bart_embeddings(
        tokens, model.tokens.weight, inside.positions.weight, *inside.norm.parameters()
    )
    assert torch.allclose(mine, model.states(tokens)[0], atol=1e-6)


@pytest.mark.parametrize("pad_id", [0, 1, 4])
def test_the_places_of_m2m100(pad_id):
    stack = Model(m2m100(**SIZES, pad_id=pad_id)).stack
    tokens = torch.randint(6, (4, 9), generator=torch.Generator().manual_seed(0))
    real = tokens != pad_id
    assert torch.equal(real_places(tokens, pad_id), stack.places(tokens, real, 0))
    whole = torch.full((1, 5), pad_id + 1)
    last = stack.places(whole[:, 4:], torch.ones_like(whole) > 0, 4)
    assert torch.equal(real_places(whole[:, 4:], pad_id, past=4), last)


def test_what_was_hidden_can_be_put_back():
    tokens, names = list(range(10, 70)), list(range(100, 130))
    for seed in range(5):
        spans = draw_spans(60, 0.3, 3.0, torch.Generator().manual_seed(seed))
        inputs, targets = span_corruption(tokens, spans, names)
        assert put_back(inputs, targets, names) == tokens
    assert put_back([100, 5], [7, 100, 8, 111, 9, 100, 6], names) == [8, 6, 5]
