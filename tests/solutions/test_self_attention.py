"""The reference against PyTorch's own functions, forward and backward."""

import pytest
import torch
import torch.nn.functional as F

from exercises.checks import devices, numbers
from solutions import self_attention as pieces

DTYPES = [torch.float32, torch.float64]


def inputs(dtype, device):
    """Make queries, keys and values in which every axis has a size of its own."""
    shapes = (2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6)
    return [
        numbers(*shape, seed=seed, dtype=dtype, device=device).requires_grad_(True)
        for seed, shape in enumerate(shapes)
    ]


@pytest.mark.parametrize("device", devices())
@pytest.mark.parametrize("dtype", DTYPES)
def test_attention_equals_the_fused_kernel(dtype, device):
    ours, theirs = inputs(dtype, device), inputs(dtype, device)
    output = pieces.attention(*ours)
    expected = F.scaled_dot_product_attention(*theirs, scale=1.0)
    torch.testing.assert_close(output, expected)

    output.square().sum().backward()
    expected.square().sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, other.grad)


@pytest.mark.parametrize("dtype", [*DTYPES, torch.float16])
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_softmax_equals_the_library(dtype, scale):
    scores = numbers(3, 4, 5, scale=scale, dtype=dtype).clamp(-6e4, 6e4)
    near = {"rtol": 1e-2, "atol": 1e-3} if dtype == torch.float16 else {}
    expected = torch.softmax(scores, dim=-1)
    torch.testing.assert_close(pieces.softmax(scores), expected, **near)


def test_loops_equal_matrices():
    queries, keys, values = (t[0, 0].detach() for t in inputs(torch.float64, "cpu"))
    weights = pieces.attention_weights(queries, keys)
    torch.testing.assert_close(
        pieces.scores_with_loops(queries, keys), pieces.attention_scores(queries, keys)
    )
    torch.testing.assert_close(
        pieces.output_with_loops(weights, values),
        pieces.attention(queries, keys, values),
    )


def test_layer_equals_torch_multihead_attention_with_one_head():
    """With its scaling undone, PyTorch's layer of one head is the same function."""
    d_model = 8
    layer = pieces.SelfAttention(d_model, d_model, d_model)
    theirs = torch.nn.MultiheadAttention(d_model, 1, bias=False, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(
            torch.cat(
                [
                    layer.W_q.weight * d_model**0.5,
                    layer.W_k.weight,
                    layer.W_v.weight,
                ]
            )
        )
        theirs.out_proj.weight.copy_(torch.eye(d_model))
    x = numbers(2, 5, d_model)
    expected, _ = theirs(x, x, x, need_weights=False)
    torch.testing.assert_close(layer(x), expected)


def test_shuffling_before_or_after_is_the_same():
    x, order = numbers(2, 5, 6), torch.tensor([4, 2, 0, 1, 3])
    weights = numbers(6, 3, seed=1), numbers(6, 3, seed=2), numbers(6, 4, seed=3)
    first, last = pieces.shuffle_both_ways(x, order, *weights)
    torch.testing.assert_close(first, last)
    assert not torch.allclose(first, first[:, order])


def test_inputs_are_left_alone():
    tensors = [t.detach() for t in inputs(torch.float32, "cpu")]
    copies = [t.clone() for t in tensors]
    pieces.attention(*tensors)
    assert all(map(torch.equal, tensors, copies))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_layer_on_the_gpu_equals_the_cpu():
    layer = pieces.SelfAttention(8, 4, 6)
    x = numbers(2, 5, 8)
    expected = layer(x)
    torch.testing.assert_close(layer.cuda()(x.cuda()).cpu(), expected)
