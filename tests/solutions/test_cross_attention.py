"""The reference for cross-attention against PyTorch's own, forward and backward."""

import pytest
import torch

from exercises.checks import devices, numbers
from solutions import cross_attention as pieces
from solutions.masking import padding_mask

DTYPES = [torch.float32, torch.float64]


def pair(dtype=torch.float32, device="cpu"):
    """Make our layer and PyTorch's with the same weights: width 6, three heads."""
    torch.manual_seed(0)
    ours = pieces.CrossAttention(6, 3).to(device, dtype)
    theirs = torch.nn.MultiheadAttention(6, 3, bias=False, batch_first=True)
    theirs = theirs.to(device, dtype)
    with torch.no_grad():
        views = [ours.W_q.weight, ours.W_k.weight, ours.W_v.weight]
        theirs.in_proj_weight.copy_(torch.cat(views))
        theirs.out_proj.weight.copy_(ours.W_o.weight)
    return ours, theirs


def inputs(dtype=torch.float32, device="cpu"):
    """Make five target tokens and seven of the source, of which some are filling."""
    x = numbers(2, 5, 6, seed=1, dtype=dtype, device=device).requires_grad_(True)
    memory = numbers(2, 7, 6, seed=2, dtype=dtype, device=device).requires_grad_(True)
    tokens = torch.tensor([[4] * 7, [4, 4, 4, 0, 0, 0, 0]], device=device)
    return x, memory, padding_mask(tokens, 0)


@pytest.mark.parametrize("device", devices())
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_layer_equals_pytorchs(dtype, device):
    ours, theirs = pair(dtype, device)
    x, memory, mask = inputs(dtype, device)
    hidden = ~mask[:, 0, 0]
    expected, weights = theirs(
        x, memory, memory, key_padding_mask=hidden, average_attn_weights=False
    )
    found = ours(x, memory, mask)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(ours.weights(x, memory, mask), weights)

    mine = torch.autograd.grad(found.square().sum(), [x, memory, ours.W_k.weight])
    other = torch.autograd.grad(
        expected.square().sum(), [x, memory, theirs.in_proj_weight]
    )
    torch.testing.assert_close(mine[0], other[0])
    torch.testing.assert_close(mine[1], other[1])
    torch.testing.assert_close(mine[2], other[2][6:12])


def test_without_a_mask_the_whole_memory_is_seen():
    ours, theirs = pair()
    x, memory, _ = inputs()
    torch.testing.assert_close(ours(x, memory), theirs(x, memory, memory)[0])


def test_keys_and_values_read_once_serve_every_target_token():
    ours, _ = pair()
    x, memory, mask = inputs()
    keys, values = ours.read(memory)
    assert keys.shape == values.shape == (2, 3, 7, 2)
    one_by_one = [ours.look(x[:, i : i + 1], keys, values, mask) for i in range(5)]
    torch.testing.assert_close(torch.cat(one_by_one, dim=1), ours(x, memory, mask))


def test_shared_key_heads_equal_repeated_ones():
    torch.manual_seed(0)
    few, many = pieces.CrossAttention(8, 4, 2), pieces.CrossAttention(8, 4)
    with torch.no_grad():
        for name in ("W_q", "W_o"):
            getattr(many, name).weight.copy_(getattr(few, name).weight)
        for name in ("W_k", "W_v"):
            heads = getattr(few, name).weight.unflatten(0, (2, 2))
            shared = heads.repeat_interleave(2, dim=0).flatten(0, 1)
            getattr(many, name).weight.copy_(shared)
    x, memory = numbers(2, 5, 8, seed=1), numbers(2, 7, 8, seed=2)
    assert few.read(memory)[0].shape == (2, 2, 7, 2)
    torch.testing.assert_close(few(x, memory), many(x, memory))


def test_weights_are_those_of_the_formula():
    queries, keys = numbers(2, 5, 4, seed=3), numbers(2, 7, 4, seed=4)
    expected = torch.softmax(queries @ keys.mT / 2, dim=-1)
    torch.testing.assert_close(pieces.cross_attention_weights(queries, keys), expected)


def test_alignment_averages_the_heads():
    weights = torch.tensor([[[[0.5, 0.3, 0.2]], [[0.0, 0.6, 0.4]]]])
    assert pieces.alignment(weights).tolist() == [[1]]


def test_filling_of_the_memory_and_inputs_do_not_matter():
    ours, _ = pair()
    x, memory, mask = inputs()
    other = torch.where(mask[:, 0, 0, :, None], memory, 50.0)
    copies = [t.detach().clone() for t in (x, memory, mask)]
    torch.testing.assert_close(ours(x, other, mask), ours(x, memory, mask))
    assert all(map(torch.equal, copies, (x, memory, mask)))
