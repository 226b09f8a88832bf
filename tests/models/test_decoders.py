"""What the decoders of chapter 12 are made of."""

import pytest
import torch

from solutions.decoders import (
    GPT,
    as_one_text,
    calm_start,
    coded_windows,
    fine_tuning_loss,
    layer_masks,
    source_shares,
    split_convolution,
    strictly,
)
from solutions.families import gpt, gpt2
from solutions.masking import causal_mask, combine_masks, sliding_window_mask
from solutions.models import Model

SIZES = {"vocab_size": 11, "d_model": 12, "num_layers": 3, "num_heads": 2}


@pytest.mark.parametrize(("family", "norm_first"), [(gpt, False), (gpt2, True)])
def test_the_learners_gpt_is_the_general_stack(family, norm_first):
    torch.manual_seed(0)
    ours = GPT(**SIZES, max_len=9, norm_first=norm_first)
    model = Model(family(**SIZES, d_ff=48, max_len=9))
    calm_start(model, torch.Generator().manual_seed(0))
    own = dict(model.named_parameters())
    for name, weight in ours.named_parameters():
        place = name.replace("positions", "embeddings.positions")
        place = name if name.startswith("tokens") else f"stack.{place}"
        own[place].data.copy_(weight)
    tokens = torch.randint(11, (2, 9))
    assert torch.allclose(ours(tokens), model(tokens), atol=1e-4)


def test_layers_look_far_and_near_by_turns():
    masks = layer_masks(4, 9, 3)
    near = combine_masks(causal_mask(9), torch.ones(9, 9).triu(-2).bool())
    assert torch.equal(masks[0], causal_mask(9)) and torch.equal(masks[2], masks[0])
    assert torch.equal(masks[1], near) and torch.equal(masks[3], near)
    assert torch.equal(near, combine_masks(causal_mask(9), sliding_window_mask(9, 3)))


def test_texts_are_joined_and_cut():
    assert as_one_text([[5], [6, 7]], 1, 2, 3) == [1, 5, 2, 6, 7, 3]
    windows = coded_windows(torch.arange(10, 18), 2, 4)
    assert windows.tolist() == [[2, 10, 11, 12], [2, 13, 14, 15]]
    assert coded_windows(torch.arange(2), 2, 4).shape == (0, 4)


def test_two_losses_are_added():
    classes, logits = torch.zeros(2, 3), torch.zeros(2, 4, 5)
    tokens, labels = torch.ones(2, 4, dtype=torch.long), torch.tensor([0, 2])
    loss = fine_tuning_loss(classes, labels, logits, tokens, 0, weight=2.0)
    assert torch.allclose(loss, torch.tensor([3.0, 5.0, 5.0]).log().sum(), atol=1e-6)


def test_a_source_gets_its_share_of_the_probability():
    logits = torch.randn(3, 4, 6, dtype=torch.float64)
    tokens = torch.tensor([5, 0, 2, 2])
    chances = torch.softmax(logits, -1)[:, torch.arange(4), tokens].prod(dim=1)
    assert torch.allclose(
        source_shares(logits, tokens), chances / chances.sum(), atol=1e-6
    )


def test_published_weights_are_split_and_checked():
    weight, bias, x = torch.randn(4, 12), torch.randn(12), torch.randn(2, 4)
    parts = split_convolution(weight, bias)
    made = [x @ parts[f"W_{c}.weight"].T + parts[f"W_{c}.bias"] for c in "qkv"]
    assert torch.allclose(torch.cat(made, dim=-1), x @ weight + bias, atol=1e-5)
    wanted = {name: tuple(part.shape) for name, part in parts.items()}
    assert strictly(parts, wanted) == parts
    for other in (parts | {"extra": x}, {}, parts | {"W_q.bias": x}):
        with pytest.raises(ValueError, match="missing"):
            strictly(other, wanted)
