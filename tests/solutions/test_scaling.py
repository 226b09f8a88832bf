"""Scaling against PyTorch's own functions, forward and backward."""

import math

import pytest
import torch
import torch.nn.functional as F

from exercises.checks import devices, numbers
from solutions import scaling as pieces

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
def test_scaled_attention_equals_the_fused_kernel(dtype, device):
    ours, theirs = inputs(dtype, device), inputs(dtype, device)
    output = pieces.scaled_attention(*ours)
    expected = F.scaled_dot_product_attention(*theirs)
    torch.testing.assert_close(output, expected)

    output.square().sum().backward()
    expected.square().sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, other.grad)


@pytest.mark.parametrize("d_k", [1, 4, 9, 64])
def test_scores_are_divided_by_the_root_of_the_width(d_k):
    queries, keys = numbers(2, 3, d_k), numbers(2, 5, d_k, seed=1)
    expected = torch.einsum("bqd,bkd->bqk", queries, keys) / math.sqrt(d_k)
    torch.testing.assert_close(pieces.scaled_scores(queries, keys), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("heads", [1, 3, 4, 12])
def test_every_head_is_scaled_by_its_own_width(heads, dtype):
    ours, theirs = (
        [numbers(2, 5, 12, seed=i, dtype=dtype).requires_grad_(True) for i in range(3)]
        for _ in range(2)
    )
    output = pieces.scaled_heads(*ours, heads)
    split = [t.unflatten(-1, (heads, -1)).movedim(-2, 1) for t in theirs]
    expected = F.scaled_dot_product_attention(*split).movedim(1, -2).flatten(-2)
    torch.testing.assert_close(output, expected)

    output.square().sum().backward()
    expected.square().sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, other.grad)


@pytest.mark.parametrize("d_k", [1, 16, 256])
def test_the_variance_of_a_dot_product_is_its_width(d_k):
    generator = torch.Generator().manual_seed(d_k)
    measured = pieces.dot_product_variance(d_k, 20_000, generator)
    assert 0.85 * d_k < measured < 1.15 * d_k


def test_the_same_seed_measures_the_same():
    first, second = (
        pieces.dot_product_variance(8, 100, torch.Generator().manual_seed(3))
        for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize("dtype", DTYPES)
def test_entropy_equals_the_library(dtype):
    weights = torch.softmax(numbers(2, 3, 5, scale=3.0, dtype=dtype), dim=-1)
    expected = torch.distributions.Categorical(probs=weights).entropy()
    torch.testing.assert_close(pieces.entropy(weights), expected)


def test_entropy_of_certainty_is_zero_and_of_equal_shares_the_logarithm():
    weights = torch.tensor([[0.0, 1.0, 0.0, 0.0], [0.25] * 4])
    expected = torch.tensor([0.0, math.log(4)])
    torch.testing.assert_close(pieces.entropy(weights), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_jacobian_equals_automatic_differentiation(dtype):
    scores = numbers(2, 3, 5, dtype=dtype)
    table = pieces.softmax_jacobian(torch.softmax(scores, dim=-1))
    for i in range(2):
        for j in range(3):
            expected = torch.autograd.functional.jacobian(
                lambda s: torch.softmax(s, dim=-1), scores[i, j]
            )
            torch.testing.assert_close(table[i, j], expected)


def test_inputs_are_left_alone():
    tensors = [t.detach() for t in inputs(torch.float32, "cpu")]
    copies = [t.clone() for t in tensors]
    pieces.scaled_attention(*tensors)
    assert all(map(torch.equal, tensors, copies))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_heads_on_the_gpu_equal_the_cpu():
    tensors = [numbers(2, 5, 12, seed=i) for i in range(3)]
    expected = pieces.scaled_heads(*tensors, 3)
    output = pieces.scaled_heads(*(t.cuda() for t in tensors), 3)
    torch.testing.assert_close(output.cpu(), expected)
