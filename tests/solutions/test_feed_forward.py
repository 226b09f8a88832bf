"""Feed-forward layers and their bends against PyTorch's own, forward and backward."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from exercises.checks import devices, numbers
from solutions import feed_forward as pieces

DTYPES = [torch.float32, torch.float64]
BENDS = {
    "relu": (pieces.relu, F.relu),
    "gelu": (pieces.gelu, F.gelu),
    "gelu_tanh": (pieces.gelu_tanh, lambda x: F.gelu(x, approximate="tanh")),
    "swish": (pieces.swish, F.silu),
}


@pytest.mark.parametrize("device", devices())
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BENDS)
def test_a_bend_equals_the_library(name, dtype, device):
    ours, theirs = BENDS[name]
    near = {"scale": 3.0, "dtype": dtype, "device": device}
    mine, other = (numbers(2, 3, 5, **near).requires_grad_(True) for _ in range(2))
    torch.testing.assert_close(ours(mine), theirs(other))
    ours(mine).square().sum().backward()
    theirs(other).square().sum().backward()
    torch.testing.assert_close(mine.grad, other.grad)


@pytest.mark.parametrize("name", BENDS)
def test_a_bend_is_finite_far_out_and_leaves_its_input(name):
    ours, theirs = BENDS[name]
    x = torch.tensor([-1e4, -50.0, 0.0, 50.0, 1e4])
    kept = x.clone()
    torch.testing.assert_close(ours(x), theirs(x))
    assert torch.equal(x, kept)


def test_the_two_gelus_differ_by_five_ten_thousandths():
    x = torch.linspace(-6, 6, 10_001, dtype=torch.float64)
    gap = (pieces.gelu(x) - pieces.gelu_tanh(x)).abs().max()
    assert 4e-4 < gap < 5e-4


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("activation", "name"), [(pieces.relu, "relu"), (pieces.gelu, "gelu")]
)
def test_feed_forward_equals_that_of_the_encoder_layer(dtype, activation, name):
    theirs = nn.TransformerEncoderLayer(
        6, 2, 10, dropout=0.0, activation=name, dtype=dtype
    )
    layer = pieces.FeedForward(6, 10, activation).to(dtype)
    layer.W_1.load_state_dict(theirs.linear1.state_dict())
    layer.W_2.load_state_dict(theirs.linear2.state_dict())
    x = numbers(2, 5, 6, dtype=dtype)
    torch.testing.assert_close(layer(x), theirs._ff_block(x))


def test_without_a_width_it_is_four_times_as_wide():
    layer = pieces.FeedForward(5)
    assert layer.W_1.weight.shape == (20, 5)
    assert layer.W_2.weight.shape == (5, 20)


def test_swiglu_is_its_formula():
    layer = pieces.SwiGLU(4, 7)
    x = numbers(2, 3, 4)
    gate, up, down = (p.T for p in layer.parameters())
    torch.testing.assert_close(layer(x), (F.silu(x @ gate) * (x @ up)) @ down)
    assert sum(p.numel() for p in layer.parameters()) == 3 * 4 * 7


@pytest.mark.parametrize("layer", [pieces.FeedForward(4, 7), pieces.SwiGLU(4, 7)])
def test_no_position_sees_another(layer):
    x = numbers(2, 3, 4)
    changed = x.clone()
    changed[1, 2] = 100.0
    moved = (layer(x) - layer(changed)).abs().sum(dim=-1) > 0
    assert moved.tolist() == [[False] * 3, [False, False, True]]


def test_a_memory_is_a_feed_forward_layer_without_biases():
    layer = pieces.FeedForward(4, 7)
    nn.init.zeros_(layer.W_1.bias)
    nn.init.zeros_(layer.W_2.bias)
    x = numbers(2, 3, 4)
    read = pieces.read_memory(x, layer.W_1.weight, layer.W_2.weight.T)
    torch.testing.assert_close(read, layer(x))


def test_the_rows_that_fire_come_strongest_first():
    keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-9.0, 0.0], [1.0, 1.0], [0.0, 5.0]])
    x = torch.tensor([[3.0, 2.0], [-2.0, 1.0]])
    assert pieces.firing_rows(x, keys, 2).tolist() == [[4, 3], [2, 4]]
