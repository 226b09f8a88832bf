"""Norms and residuals against PyTorch's own, forward and backward."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from exercises.checks import devices, numbers
from solutions import residual_norm as pieces

DTYPES = [torch.float32, torch.float64]


def inputs(dtype, device, scale=2.0):
    """Make tokens, a gain and a bias, in which every axis has a size of its own."""
    shapes = (2, 3, 5, 6), (6,), (6,)
    near = {"dtype": dtype, "device": device, "scale": scale}
    return [
        (numbers(*shape, seed=seed, **near) + seed).requires_grad_(True)
        for seed, shape in enumerate(shapes)
    ]


def assert_the_same(ours, theirs, mine, others):
    """Hold two results equal, and the gradients of their inputs."""
    torch.testing.assert_close(ours, theirs)
    weight = numbers(*ours.shape, seed=9, dtype=ours.dtype, device=ours.device)
    (ours * weight).sum().backward()
    (theirs * weight).sum().backward()
    for one, other in zip(mine, others, strict=True):
        torch.testing.assert_close(one.grad, other.grad)


@pytest.mark.parametrize("device", devices())
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("eps", [1e-5, 0.1])
def test_layer_norm_equals_the_library(dtype, device, eps):
    mine, others = inputs(dtype, device), inputs(dtype, device)
    ours = pieces.layer_norm(*mine, eps=eps)
    x, gain, bias = others
    assert_the_same(ours, F.layer_norm(x, (6,), gain, bias, eps), mine, others)


@pytest.mark.parametrize("device", devices())
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("eps", [1e-6, 0.1])
def test_rms_norm_equals_the_library(dtype, device, eps):
    mine, others = inputs(dtype, device)[:2], inputs(dtype, device)[:2]
    ours = pieces.rms_norm(*mine, eps=eps)
    assert_the_same(ours, F.rms_norm(others[0], (6,), others[1], eps), mine, others)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (pieces.LayerNorm(6), nn.LayerNorm(6)),
        (pieces.RMSNorm(6), nn.RMSNorm(6, eps=1e-6)),
    ],
)
@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_fresh_modules_equal_the_library(ours, theirs, scale):
    x = numbers(2, 5, 6, scale=scale)
    torch.testing.assert_close(ours(x), theirs(x))
    assert [p.shape for p in ours.parameters()] == [
        p.shape for p in theirs.parameters()
    ]


@pytest.mark.parametrize("norm", [pieces.LayerNorm(4), pieces.RMSNorm(4)])
def test_a_token_of_equal_numbers_has_a_finite_gradient(norm):
    x = torch.zeros(3, 4, requires_grad=True)
    norm(x).sum().backward()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_jacobian_is_what_autograd_finds(dtype):
    W, x = numbers(5, 5, seed=1, dtype=dtype), numbers(5, seed=2, dtype=dtype)
    found = torch.autograd.functional.jacobian(
        lambda x: pieces.residual(x, lambda x: x @ W), x
    )
    torch.testing.assert_close(pieces.residual_jacobian(W), found)


@pytest.mark.parametrize("norm_first", [False, True])
def test_two_wrapped_sub_layers_equal_the_encoder_layer_of_torch(norm_first):
    theirs = nn.TransformerEncoderLayer(
        8, 2, 16, dropout=0.0, batch_first=True, norm_first=norm_first
    )

    def attend(x):
        return theirs.self_attn(x, x, x, need_weights=False)[0]

    feed_forward = nn.Sequential(theirs.linear1, nn.ReLU(), theirs.linear2)
    layers = [
        pieces.Residual(8, sublayer, norm_first=norm_first)
        for sublayer in (attend, feed_forward)
    ]
    for layer, norm in zip(layers, (theirs.norm1, theirs.norm2), strict=True):
        with torch.no_grad():
            norm.weight.copy_(numbers(8, seed=3))
            norm.bias.copy_(numbers(8, seed=4))
            layer.norm.gain.copy_(norm.weight)
            layer.norm.bias.copy_(norm.bias)
    x = numbers(2, 5, 8)
    torch.testing.assert_close(layers[1](layers[0](x)), theirs(x))


def test_dropout_is_on_what_is_added():
    x = numbers(2, 5, 6)
    layer = pieces.Residual(6, nn.Linear(6, 6), norm_first=True, dropout=1.0)
    assert torch.equal(layer(x), x)
    assert not torch.allclose(layer.eval()(x), x)


def test_further_inputs_go_on_to_the_sub_layer():
    def sublayer(x, other, *, times):
        return times * (x + other)

    x, other = numbers(2, 3, seed=5), numbers(2, 3, seed=6)
    layer = pieces.Residual(3, sublayer)
    expected = F.layer_norm(x + 2 * (x + other), (3,))
    torch.testing.assert_close(layer(x, other, times=2), expected)


def test_inputs_are_left_alone():
    tensors = [t.detach() for t in inputs(torch.float32, "cpu")]
    copies = [t.clone() for t in tensors]
    pieces.layer_norm(*tensors)
    pieces.rms_norm(*tensors[:2])
    pieces.residual(tensors[0], nn.Linear(6, 6))
    for norm_first in (False, True):
        pieces.Residual(6, nn.Linear(6, 6), norm_first)(tensors[0])
    assert all(map(torch.equal, tensors, copies))
