"""Multi-head attention against PyTorch's own, forward and backward."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from exercises.checks import devices, numbers
from solutions import multi_head as pieces
from solutions.self_attention import attention

DTYPES = [torch.float32, torch.float64]
BATCH, SEQ, D_MODEL, HEADS = 2, 5, 12, 3


def scaled(queries, keys, values):
    """Attend as PyTorch's layers do, with the scaling of chapter 04."""
    return attention(queries / queries.shape[-1] ** 0.5, keys, values)


def tokens(**more):
    return numbers(BATCH, SEQ, D_MODEL, **more)


@pytest.mark.parametrize("device", devices())
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_layer_equals_torch_multihead_attention(dtype, device):
    near = {"dtype": dtype, "device": device}
    ours = pieces.MultiHeadAttention(D_MODEL, HEADS, attend=scaled).to(**near)
    theirs = nn.MultiheadAttention(D_MODEL, HEADS, bias=False, batch_first=True, **near)
    three = [ours.W_q.weight, ours.W_k.weight, ours.W_v.weight]
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat(three))
        theirs.out_proj.weight.copy_(ours.W_o.weight)
    mine, other = (tokens(**near).requires_grad_(True) for _ in range(2))
    output, (expected, _) = ours(mine), theirs(other, other, other)
    torch.testing.assert_close(output, expected)

    output.square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(mine.grad, other.grad)
    grads = torch.cat([weight.grad for weight in three])
    torch.testing.assert_close(grads, theirs.in_proj_weight.grad)
    torch.testing.assert_close(ours.W_o.weight.grad, theirs.out_proj.weight.grad)


@pytest.mark.parametrize("device", devices())
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_grouped_heads_equal_the_fused_kernel(kv_heads, dtype, device):
    near = {"dtype": dtype, "device": device}
    layer = pieces.MultiHeadAttention(8, 4, kv_heads).to(**near)
    mine, other = (numbers(2, 5, 8, **near).requires_grad_(True) for _ in range(2))

    queries = layer.W_q(other).unflatten(-1, (4, 2)).movedim(1, 2)
    keys = layer.W_k(other).unflatten(-1, (kv_heads, 2)).movedim(1, 2)
    values = layer.W_v(other).unflatten(-1, (kv_heads, 2)).movedim(1, 2)
    heads = F.scaled_dot_product_attention(
        queries, keys, values, scale=1.0, enable_gqa=True
    )
    expected = layer.W_o(heads.movedim(2, 1).flatten(2))
    torch.testing.assert_close(layer(mine), expected)

    layer(mine).square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(mine.grad, other.grad)


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 6, 12])
def test_merging_undoes_splitting(heads):
    x = tokens().transpose(0, 1)  # not contiguous
    split = pieces.split_heads(x, heads)
    assert split.shape == (SEQ, heads, BATCH, D_MODEL // heads)
    assert torch.equal(pieces.merge_heads(split), x)


def test_each_head_gets_its_own_slice():
    x = tokens()
    split = pieces.split_heads(x, HEADS)
    for head, slice_ in enumerate(x.chunk(HEADS, dim=-1)):
        assert torch.equal(split[:, head], slice_)


def test_query_heads_in_a_row_share_a_key_head():
    x = numbers(2, 2, 5, 4)
    shared = pieces.share_heads(x, 6)
    for head, expected in enumerate([0, 0, 0, 1, 1, 1]):
        assert torch.equal(shared[:, head], x[:, expected])


def test_what_cannot_be_shared_evenly_is_refused():
    with pytest.raises(ValueError, match="12 cannot be shared among 5"):
        pieces.split_heads(tokens(), 5)
    with pytest.raises(ValueError, match="12 cannot be shared among 5"):
        pieces.MultiHeadAttention(12, 5)
    with pytest.raises(ValueError, match="12 cannot be shared among 5"):
        pieces.attention_flops(10, 12, 5)
    with pytest.raises(ValueError, match="4 query heads cannot share 3"):
        pieces.MultiHeadAttention(12, 4, 3)(tokens())


@pytest.mark.parametrize("heads", [1, 2, 4, 8])
def test_operations_are_those_that_torch_counts(heads):
    layer = pieces.MultiHeadAttention(16, heads)
    with FlopCounterMode(display=False) as counter:
        layer(numbers(1, 10, 16))
    counted = pieces.attention_flops(10, 16, heads)
    assert counter.get_total_flops() == counted == pieces.attention_flops(10, 16, 1)


def test_a_head_without_its_columns_is_silent():
    layer, x = pieces.MultiHeadAttention(D_MODEL, HEADS), tokens()
    before = layer.W_o.weight.detach().clone()
    found = pieces.split_heads(layer.W_v(x), HEADS)
    heads = layer.attend(
        pieces.split_heads(layer.W_q(x), HEADS),
        pieces.split_heads(layer.W_k(x), HEADS),
        found,
    ).clone()
    heads[:, 1] = 0
    expected = pieces.merge_heads(heads) @ before.T
    silent = pieces.without_head(layer, 1)
    assert torch.equal(layer.W_o.weight, before) and not silent.requires_grad
    with torch.no_grad():
        layer.W_o.weight.copy_(silent)
    torch.testing.assert_close(layer(x), expected)
    with pytest.raises(IndexError):
        pieces.without_head(layer, HEADS)


def test_options_reach_what_every_head_does():
    def attend(queries, keys, values, times):
        return times * values

    layer, x = pieces.MultiHeadAttention(D_MODEL, HEADS, attend=attend), tokens()
    torch.testing.assert_close(layer(x, times=3), 3 * layer.W_o(layer.W_v(x)))


def test_the_tokens_are_left_alone():
    x = tokens()
    copy = x.clone()
    pieces.MultiHeadAttention(D_MODEL, HEADS)(x)
    assert torch.equal(x, copy)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_layer_on_the_gpu_equals_the_cpu():
    layer, x = pieces.MultiHeadAttention(D_MODEL, HEADS, 1), tokens()
    expected = layer(x)
    torch.testing.assert_close(layer.cuda()(x.cuda()).cpu(), expected)
