"""How decoder models are built, how they begin, and how they are told what to do.

Chapter 12: GPT, GPT-2, CTRL and GPT-3.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from solutions.feed_forward import FeedForward, gelu_tanh
from solutions.masking import causal_mask, masked_attention, sliding_window_mask
from solutions.multi_head import MultiHeadAttention
from solutions.residual_norm import LayerNorm, Residual
from solutions.tokens import LanguageModelHead, next_token_loss


class GPTBlock(nn.Module):
    """Look back, then think: a decoder's layer without anything to look over at.

    With ``norm_first`` it is GPT-2's, otherwise GPT's. The feed-forward layer is four
    times as wide and has the tanh GELU.
    Shapes: x (batch, seq, d_model), mask broadcasts against (batch, heads, seq, seq)
    -> (batch, seq, d_model).
    Source: Radford et al. (2018), section 4.1; Radford et al. (2019), section 2.3.
    """

    def __init__(self, d_model: int, num_heads: int, norm_first: bool = False):
        """Create the two sub-layers, each with its residual and its norm."""
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        think = FeedForward(d_model, 4 * d_model, gelu_tanh)
        self.attention = Residual(d_model, attend, norm_first)
        self.feed_forward = Residual(d_model, think, norm_first)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Apply self-attention and feed-forward."""
        return self.feed_forward(self.attention(x, mask=mask))


class GPT(nn.Module):
    """Predict every next token: GPT, or GPT-2 with ``norm_first``.

    Positions are learned; the head shares the tokens' matrix. GPT-2 has one more norm
    behind the last block. Nothing looks ahead.
    Shapes: tokens (batch, seq) of ids -> logits (batch, seq, vocab_size).
    Source: Radford et al. (2018), equation 2; Radford et al. (2019), section 2.3.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_layers: int,
        num_heads: int,
        max_len: int,
        norm_first: bool = False,
    ):
        """Create ``tokens``, ``positions``, ``blocks``, ``norm`` and ``head``."""
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(
            GPTBlock(d_model, num_heads, norm_first) for _ in range(num_layers)
        )
        self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
        self.head = LanguageModelHead(self.tokens)

    def forward(self, tokens: Tensor) -> Tensor:
        """Give the logits of every next token."""
        seq = tokens.shape[1]
        places = torch.arange(seq, device=tokens.device)
        mask = causal_mask(seq).to(tokens.device)
        x = self.tokens(tokens) + self.positions(places)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


def as_one_text(
    parts: list[list[int]], start: int, between: int, extract: int
) -> list[int]:
    """Write the parts of a task as one text, so that a decoder can read it.

    A start, the parts with a sign between them, and at the end a token that is there
    to be read out. All are ids.
    Source: Radford et al. (2018), section 3.3 and figure 1.
    """
    text = [start]
    for i, part in enumerate(parts):
        text += [between] * (i > 0) + part
    return [*text, extract]


def last_real(x: Tensor, real: Tensor) -> Tensor:
    """Give the vector of the last real token: it alone has seen the whole text.

    Shapes: x (batch, seq, d_model), real (batch, seq) -> (batch, d_model).
    Source: Radford et al. (2018), section 3.2.
    """
    places = torch.arange(real.shape[1], device=x.device)
    last = torch.where(real, places, -1).argmax(dim=-1)
    return x[torch.arange(len(x), device=x.device), last]


def fine_tuning_loss(
    class_logits: Tensor,
    labels: Tensor,
    logits: Tensor,
    tokens: Tensor,
    pad_id: int,
    weight: float = 0.5,
) -> Tensor:
    """Learn a task, and go on predicting the next token beside it.

    Shapes: class_logits (batch, classes), labels (batch,), logits (batch, seq,
    vocab_size), tokens (batch, seq) of ids -> ().
    Source: Radford et al. (2018), equation 5.
    """
    task = F.cross_entropy(class_logits, labels)
    return task + weight * next_token_loss(logits, tokens, pad_id)


def calm_weights(
    shapes: dict[str, tuple[int, ...]],
    num_layers: int,
    generator: torch.Generator,
    std: float = 0.02,
) -> dict[str, Tensor]:
    """Begin as GPT-2 does: small weights, smaller ones where a residual is written.

    Matrices are drawn with ``std``; W_o, W_2 and W_down, which write into the residual
    stream, with ``std / sqrt(2 * num_layers)``, since so many of them add up. Of the
    vectors, gains are one and biases zero.
    Shapes: the shape of each weight by its name -> a tensor for each name.
    Source: Radford et al. (2019), section 2.3.
    """
    writers = ("W_o.weight", "W_2.weight", "W_down.weight")
    weights = {}
    for name, shape in shapes.items():
        if len(shape) == 2:
            size = std / (2 * num_layers) ** 0.5 if name.endswith(writers) else std
            weights[name] = torch.randn(tuple(shape), generator=generator) * size
        else:
            weights[name] = torch.full(tuple(shape), float(name.endswith("gain")))
    return weights


@torch.no_grad()
def calm_start(model: nn.Module, generator: torch.Generator, std: float = 0.02) -> None:
    """Give a decoder the weights with which GPT-2 begins."""
    own = dict(model.named_parameters())
    shapes = {name: tuple(parameter.shape) for name, parameter in own.items()}
    layers = len(model.blocks if hasattr(model, "blocks") else model.stack.blocks)
    for name, drawn in calm_weights(shapes, layers, generator, std).items():
        own[name].copy_(drawn)


def split_convolution(weight: Tensor, bias: Tensor) -> dict[str, Tensor]:
    """Take the published ``c_attn`` apart into three linear layers.

    It is kept as ``x @ weight`` wants it, queries, keys and values side by side; a
    linear layer keeps the transpose.
    Shapes: weight (d_model, 3 * d_model), bias (3 * d_model,) -> W_q.weight, W_k.weight
    and W_v.weight (d_model, d_model); W_q.bias, W_k.bias and W_v.bias (d_model,).
    Source: Radford et al. (2019), in their published code.
    """
    found = {}
    pairs = zip("qkv", weight.chunk(3, dim=1), bias.chunk(3), strict=True)
    for letter, matrix, vector in pairs:
        found |= {f"W_{letter}.weight": matrix.T, f"W_{letter}.bias": vector}
    return found


def strictly(
    found: dict[str, Tensor], wanted: dict[str, tuple[int, ...]]
) -> dict[str, Tensor]:
    """Give the weights that were found if they are exactly those that are wanted.

    Raises ValueError with the names of those that are missing, left over, or of another
    shape than ``wanted`` says.
    """
    missing = [name for name in wanted if name not in found]
    left_over = [name for name in found if name not in wanted]
    shapes = {name: tuple(found[name].shape) for name in wanted if name in found}
    other = [name for name, shape in shapes.items() if shape != tuple(wanted[name])]
    if missing or left_over or other:
        raise ValueError(
            f"missing: {missing}; left over: {left_over}; of another shape: {other}"
        )
    return dict(found)


def with_control_code(tokens: Tensor, codes: Tensor) -> Tensor:
    """Begin every text with the token that says what kind of text it is.

    Shapes: tokens (batch, seq) of ids, codes (batch,) of ids -> (batch, seq + 1).
    Source: Keskar et al. (2019), section 3.
    """
    return torch.cat([codes[:, None], tokens], dim=1)


def coded_windows(text: Tensor, code: int, length: int) -> Tensor:
    """Cut a long text into windows of ``length`` tokens, each under its code.

    Every token of the text stands in one window; the rest at the end that fills none
    is left out.
    Shapes: text (tokens,) of ids -> (windows, length).
    Source: Keskar et al. (2019), section 3.2.
    """
    room = length - 1
    windows = text[: len(text) // room * room].reshape(-1, room)
    codes = torch.full_like(windows[:, 0], code)
    return with_control_code(windows, codes)


def source_shares(logits: Tensor, tokens: Tensor) -> Tensor:
    """Say how likely each code is to have been the beginning of a text.

    ``logits[c, t]`` are the scores for the token at place t, of a model that has read
    code c and the tokens before. Before reading, all codes are equally likely.
    Shapes: logits (codes, seq, vocab_size), tokens (seq,) of ids -> (codes,).
    Source: Keskar et al. (2019), section 5.
    """
    chances = torch.log_softmax(logits, dim=-1)
    chosen = chances.gather(-1, tokens.expand(len(logits), -1)[..., None])
    return torch.softmax(chosen.sum(dim=(1, 2)), dim=0)


def few_shot_prompt(
    examples: list[tuple[str, str]], question: str, arrow: str = " => "
) -> str:
    """Write worked examples above a question, one a line; the last answer is missing.

    The text ends with the arrow, without the space behind it.
    Source: Brown et al. (2020), figure 2.1.
    """
    lines = [f"{asked}{arrow}{answer}" for asked, answer in examples]
    return "\n".join([*lines, f"{question}{arrow}".rstrip()])


def alternating_windows(num_layers: int, window: int) -> tuple[int, ...]:
    """Let layers look at everything and at the last few tokens by turns; 0 is all.

    Source: Brown et al. (2020), section 2.1, after Child et al. (2019).
    """
    return tuple(window if layer % 2 else 0 for layer in range(num_layers))


def layer_masks(num_layers: int, seq: int, window: int) -> Tensor:
    """Give the mask of every layer: all that came before, and a band, by turns.

    In a band a token sees ``window`` tokens, itself among them.
    Shapes: -> (num_layers, seq, seq) of booleans.
    Source: Brown et al. (2020), section 2.1, after Child et al. (2019).
    """
    whole, band = causal_mask(seq), sliding_window_mask(seq, window)
    windows = alternating_windows(num_layers, window)
    return torch.stack([band if window else whole for window in windows])
