"""The recurrent pieces against PyTorch's own, forward and backward."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from exercises.checks import devices, numbers
from solutions import recurrent as pieces

DTYPES = [torch.float32, torch.float64]


def weights_of(theirs, suffix=""):
    """Give W_x, W_h and bias of one of PyTorch's cells or layers."""
    found = dict(theirs.named_parameters())
    W_x, W_h = (found[f"weight_{kind}{suffix}"].T for kind in ("ih", "hh"))
    return W_x, W_h, found[f"bias_ih{suffix}"] + found[f"bias_hh{suffix}"]


@pytest.mark.parametrize("device", devices())
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_step_equals_the_cell_of_pytorch(dtype, device):
    theirs = nn.LSTMCell(3, 5, dtype=dtype, device=device)
    x, hidden, cell = (
        numbers(2, d, seed=d, dtype=dtype, device=device).requires_grad_(True)
        for d in (3, 5, 5)
    )
    ours = pieces.lstm_step(x, hidden, cell, *weights_of(theirs))
    expected = theirs(x, (hidden, cell))
    torch.testing.assert_close(ours, expected)
    for mine, other in zip(ours, expected, strict=True):
        slopes = [
            torch.autograd.grad(y.square().sum(), (x, hidden, cell), retain_graph=True)
            for y in (mine, other)
        ]
        torch.testing.assert_close(*slopes)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reading_equals_the_layer_of_pytorch(dtype):
    theirs = nn.LSTM(3, 5, batch_first=True, dtype=dtype)
    x = numbers(2, 7, 3, dtype=dtype).requires_grad_(True)
    states, last = pieces.read_sentence(x, *weights_of(theirs, "_l0"))
    expected, (hidden, _) = theirs(x)
    torch.testing.assert_close(states, expected)
    torch.testing.assert_close(last, hidden[0])
    slopes = [torch.autograd.grad(y.square().sum(), x)[0] for y in (states, expected)]
    torch.testing.assert_close(*slopes)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dot_attention_equals_the_fused_kernel(dtype):
    query = numbers(2, 4, seed=1, dtype=dtype).requires_grad_(True)
    states = numbers(2, 5, 4, seed=2, dtype=dtype).requires_grad_(True)
    context, weights = pieces.dot_attention(query, states)
    expected = F.scaled_dot_product_attention(
        query[:, None], states, states, scale=1.0
    )[:, 0]
    torch.testing.assert_close(context, expected)
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(2, dtype=dtype))
    slopes = [
        torch.autograd.grad(y.square().sum(), (query, states))
        for y in (context, expected)
    ]
    torch.testing.assert_close(*slopes)


def test_additive_attention_is_its_formula():
    layer = pieces.AdditiveAttention(3, 4, 6)
    query, states = numbers(5, 3, seed=3), numbers(5, 5, 4, seed=4)
    context, weights = layer(query, states)
    for i in range(5):
        scores = [
            layer.v(torch.tanh(layer.W_q(query[i]) + layer.W_k(state)))
            for state in states[i]
        ]
        shares = torch.softmax(torch.cat(scores), dim=0)
        torch.testing.assert_close(weights[i], shares)
        torch.testing.assert_close(context[i], shares @ states[i])


def test_look_ups_agree_when_the_query_is_sharp():
    query, keys, values = numbers(4, seed=5), numbers(6, 4, seed=6), numbers(6, 3)
    hard = pieces.hard_lookup(query, keys, values)
    torch.testing.assert_close(pieces.soft_lookup(1000 * query, keys, values), hard)
    equal = pieces.hard_lookup(0 * query, keys, values)
    torch.testing.assert_close(equal, values[0])


@pytest.mark.parametrize("attention", ["none", "dot", "additive"])
def test_the_translator_sees_no_later_token_and_learns_with_all_its_parts(attention):
    model = pieces.Seq2Seq(11, 6, attention)
    source, target = torch.tensor([[3, 4, 5, 6]]), torch.tensor([[1, 7, 8]])
    logits, weights = model(source, target)
    changed, _ = model(source, torch.tensor([[1, 7, 9]]))
    torch.testing.assert_close(logits[:, :2], changed[:, :2])
    assert logits.shape == (1, 3, 11)
    assert (weights is None) == (attention == "none")
    logits.square().sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_an_unknown_attention_is_refused():
    with pytest.raises(ValueError, match='"none", "dot" or "additive"'):
        pieces.Seq2Seq(11, 6, "other")


def test_inputs_are_left_alone():
    tensors = numbers(2, 3), numbers(2, 5), numbers(2, 5), numbers(3, 20)
    tensors += numbers(5, 20), numbers(20)
    copies = [tensor.clone() for tensor in tensors]
    pieces.lstm_step(*tensors)
    assert all(map(torch.equal, tensors, copies))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("attention", ["none", "dot", "additive"])
def test_the_translator_on_the_gpu_equals_the_cpu(attention):
    model = pieces.Seq2Seq(11, 6, attention)
    source, target = torch.tensor([[3, 4, 5, 6]]), torch.tensor([[1, 7, 8]])
    expected, _ = model(source, target)
    actual, _ = model.cuda()(source.cuda(), target.cuda())
    torch.testing.assert_close(actual.cpu(), expected, rtol=1e-4, atol=1e-4)
