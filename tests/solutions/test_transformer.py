"""The Transformer against PyTorch's own layers, forward and backward."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from exercises.checks import devices, numbers, set_weights, torch_layer, torch_weights
from solutions import transformer as pieces

DTYPES = [torch.float32, torch.float64]
AHEAD = torch.ones(5, 5, dtype=torch.bool).triu(1)
REAL = torch.tensor([[True] * 7, [True] * 4 + [False] * 3])


def twins(kind, dtype, device="cpu", seed=0):
    """Make one of PyTorch's layers and ours, with the same weights."""
    theirs = torch_layer(getattr(nn, f"Transformer{kind}"), 8, 2, 12, seed=seed)
    ours = getattr(pieces, kind)(8, 2, 12)
    set_weights(ours, **torch_weights(theirs))
    return theirs.to(device, dtype), ours.to(device, dtype)


def same_with_gradients(ours, theirs, *inputs):
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    slopes = [torch.autograd.grad(y.square().sum(), inputs) for y in (ours, theirs)]
    torch.testing.assert_close(*slopes, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("device", devices())
@pytest.mark.parametrize("dtype", DTYPES)
def test_layers_equal_those_of_pytorch(dtype, device):
    near = {"dtype": dtype, "device": device}
    memory = numbers(2, 7, 8, seed=1, **near).requires_grad_(True)
    x = numbers(2, 5, 8, seed=2, **near).requires_grad_(True)
    real, ahead = REAL.to(device), AHEAD.to(device)
    there = real[:, None, None, :]
    theirs, ours = twins("EncoderLayer", **near)
    expected = theirs(memory, src_key_padding_mask=~real)
    same_with_gradients(ours(memory, there), expected, memory)
    theirs, ours = twins("DecoderLayer", **near)
    expected = theirs(x, memory, tgt_mask=ahead, memory_key_padding_mask=~real)
    same_with_gradients(ours(x, memory, ~ahead, there), expected, x, memory)


def test_stacks_equal_those_of_pytorch_without_their_last_norm():
    official = nn.Transformer(
        8,
        nhead=2,
        num_encoder_layers=2,
        num_decoder_layers=3,
        dim_feedforward=12,
        dropout=0.0,
        batch_first=True,
    )
    encoder, decoder = pieces.Encoder(2, 8, 2, 12), pieces.Decoder(3, 8, 2, 12)
    for mine, other in ((encoder, official.encoder), (decoder, official.decoder)):
        for layer, theirs in zip(mine.layers, other.layers, strict=True):
            set_weights(layer, **torch_weights(theirs))
        other.norm = None
    source = numbers(2, 7, 8, seed=3).requires_grad_(True)
    target = numbers(2, 5, 8, seed=4).requires_grad_(True)
    hidden = {"src_key_padding_mask": ~REAL, "memory_key_padding_mask": ~REAL}
    expected = official(source, target, tgt_mask=AHEAD, **hidden)
    there = REAL[:, None, None, :]
    actual = decoder(target, encoder(source, there), ~AHEAD, there)
    same_with_gradients(actual, expected, source, target)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return pieces.Transformer(11, 8, 2, 12, 2).eval()


def test_the_future_and_the_filling_change_nothing(model):
    source, target = torch.tensor([[3, 4, 5, 6]]), torch.tensor([[1, 7, 8, 9]])
    logits = model(source, target)
    changed = model(source, torch.tensor([[1, 7, 5, 3]]))
    torch.testing.assert_close(changed[:, :2], logits[:, :2])
    assert not torch.allclose(changed[:, 2:], logits[:, 2:], atol=1e-3)
    filled = model(torch.tensor([[3, 4, 5, 6, 0, 0]]), target)
    torch.testing.assert_close(filled, logits)


def test_one_matrix_serves_source_target_and_output(model):
    assert sum(p.numel() for p in model.parameters()) == 11 * 8 + 2 * (500 + 772)


def test_smoothing_sums_to_one_and_gives_nothing_to_the_filling():
    targets = torch.tensor([[3, 1, 0], [2, 4, 4]])
    smooth = pieces.smooth_targets(targets, 6, 0.2)
    torch.testing.assert_close(smooth.sum(dim=-1), (targets != 0).float())
    assert smooth[..., 0].eq(0).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_loss_equals_that_of_pytorch(dtype):
    logits = numbers(2, 3, 6, dtype=dtype).requires_grad_(True)
    targets = torch.tensor([[3, 1, 0], [2, 4, 4]])
    plain = pieces.label_smoothing_loss(logits, targets, smoothing=0.0)
    expected = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0)
    same_with_gradients(plain, expected, logits)
    smooth = pieces.label_smoothing_loss(logits, targets, smoothing=0.2)
    wanted = pieces.smooth_targets(targets, 6, 0.2)[targets != 0].to(dtype)
    expected = F.cross_entropy(logits[targets != 0], wanted)
    same_with_gradients(smooth, expected, logits)


def test_the_rate_has_its_peak_where_the_warm_up_ends():
    rates = [pieces.warmup_rate(step, 512, 400) for step in range(1, 2000)]
    assert rates.index(max(rates)) == 399
    assert max(rates) == pytest.approx(1 / math.sqrt(512 * 400))
    with pytest.raises(ValueError, match="step is 0"):
        pieces.warmup_rate(0, 512)


def test_translating_is_greedy_and_keeps_the_mode(model):
    source = torch.tensor([[3, 4, 5, 6], [7, 8, 0, 0]])
    written = pieces.translate(model, source, begin_id=1, end_id=-1, max_len=5)
    before = torch.cat([torch.ones(2, 1, dtype=torch.long), written[:, :-1]], dim=1)
    assert torch.equal(written, model(source, before).argmax(dim=-1))
    assert not model.training
    model.train()
    again = pieces.translate(model, source, begin_id=1, end_id=-1, max_len=5)
    assert torch.equal(written, again) and model.training


def test_what_has_ended_gets_filling(model):
    source = torch.tensor([[3, 4, 5, 6], [7, 8, 0, 0]])
    endless = pieces.translate(model, source, begin_id=1, end_id=-1, max_len=6)
    end = int(endless[0, 0])
    written = pieces.translate(model, source, begin_id=1, end_id=end, max_len=6)
    assert written[0, 0] == end and not written[0, 1:].any()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_the_model_on_the_gpu_equals_the_cpu(model):
    source, target = torch.tensor([[3, 4, 5, 0]]), torch.tensor([[1, 7, 8]])
    expected = model(source, target)
    actual = model.cuda()(source.cuda(), target.cuda()).cpu()
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-4)
