"""The Transformer of 2017: an encoder, a decoder, and how they are trained.

Chapter 09. Everything here is put together from the pieces of the chapters before.
"""

import math

import torch
from torch import Tensor, nn

from solutions.cross_attention import CrossAttention
from solutions.feed_forward import FeedForward
from solutions.masking import (
    causal_mask,
    combine_masks,
    masked_attention,
    padding_mask,
)
from solutions.multi_head import MultiHeadAttention
from solutions.positions import sinusoidal_positions
from solutions.residual_norm import Residual


class EncoderLayer(nn.Module):
    """Let the tokens look at each other, then let each think for itself.

    Shapes: x (batch, seq, d_model), mask broadcasts against (batch, heads, seq, seq)
    -> (batch, seq, d_model).
    Source: Vaswani et al. (2017), section 3.1, post-norm.
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.0):
        """Create the two sub-layers, each with its residual and its norm."""
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Apply self-attention and feed-forward."""
        return self.feed_forward(self.attention(x, mask=mask))


class DecoderLayer(nn.Module):
    """Look back at the target so far, look over at the source, then think.

    Shapes: x (batch, target_len, d_model), memory (batch, source_len, d_model); the
    masks broadcast against the scores -> (batch, target_len, d_model).
    Source: Vaswani et al. (2017), section 3.1, post-norm.
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.0):
        """Create the three sub-layers, each with its residual and its norm."""
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.cross_attention = Residual(d_model, cross, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        target_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        """Apply masked self-attention, cross-attention and feed-forward."""
        x = self.attention(x, mask=target_mask)
        x = self.cross_attention(x, memory, mask=memory_mask)
        return self.feed_forward(x)


class Encoder(nn.Module):
    """Stack encoder layers: each reads what the one below has written.

    Shapes: x (batch, seq, d_model) -> memory (batch, seq, d_model).
    Source: Vaswani et al. (2017), section 3.1.
    """

    def __init__(
        self, num_layers: int, d_model: int, num_heads: int, d_ff: int, **more
    ):
        """Create ``num_layers`` layers; ``more`` goes to each of them."""
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, **more) for _ in range(num_layers)
        )

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Apply every layer in turn."""
        for layer in self.layers:
            x = layer(x, mask)
        return x


class Decoder(nn.Module):
    """Stack decoder layers: all of them look at the same memory.

    Shapes: x (batch, target_len, d_model), memory (batch, source_len, d_model)
    -> (batch, target_len, d_model).
    Source: Vaswani et al. (2017), section 3.1.
    """

    def __init__(
        self, num_layers: int, d_model: int, num_heads: int, d_ff: int, **more
    ):
        """Create ``num_layers`` layers; ``more`` goes to each of them."""
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff, **more) for _ in range(num_layers)
        )

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        target_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        """Apply every layer in turn."""
        for layer in self.layers:
            x = layer(x, memory, target_mask, memory_mask)
        return x


class Transformer(nn.Module):
    """Translate: read the source with an encoder, write the target with a decoder.

    One embedding serves source, target and output; what goes in is multiplied by
    ``sqrt(d_model)``. Positions are sinusoidal. Any length works.
    Shapes: source (batch, source_len), target_in (batch, target_len) of token ids
    -> logits (batch, target_len, vocab_size).
    Source: Vaswani et al. (2017), sections 3.1, 3.4 and 3.5.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        dropout: float = 0.1,
        pad_id: int = 0,
    ):
        """Create the embedding and the two stacks."""
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens: Tensor) -> Tensor:
        """Turn token ids into vectors that know their place."""
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source: Tensor) -> Tensor:
        """Read the source: (batch, source_len) -> (batch, source_len, d_model)."""
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in: Tensor, memory: Tensor, source: Tensor) -> Tensor:
        """Give the logits of every next token: (batch, target_len, vocab_size)."""
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Give the logits of every next token of the target."""
        return self.decode(target_in, self.encode(source), source)


def smooth_targets(
    targets: Tensor, vocab_size: int, smoothing: float, pad_id: int = 0
) -> Tensor:
    """Leave some probability to the other tokens, and none to the filling.

    The right token gets ``1 - smoothing``; the rest is shared evenly by all others
    except ``pad_id``. A place of filling gets zeros.
    Shapes: targets (...) of ids -> (..., vocab_size).
    Source: Szegedy et al. (2016), section 7, where all classes share, the right one
    too; Vaswani et al. (2017), section 5.4.
    """
    shared = smoothing / (vocab_size - 2)
    smooth = torch.full((*targets.shape, vocab_size), shared, device=targets.device)
    smooth.scatter_(-1, targets[..., None], 1 - smoothing)
    smooth[..., pad_id] = 0
    return smooth.masked_fill((targets == pad_id)[..., None], 0)


def label_smoothing_loss(
    logits: Tensor, targets: Tensor, smoothing: float = 0.1, pad_id: int = 0
) -> Tensor:
    """Compare predictions with smoothed targets, averaged over the real tokens.

    Shapes: logits (..., vocab_size), targets (...) of ids -> ().
    Source: Vaswani et al. (2017), section 5.4.
    """
    smooth = smooth_targets(targets, logits.shape[-1], smoothing, pad_id)
    losses = -(smooth * torch.log_softmax(logits, dim=-1)).sum(dim=-1)
    return losses.sum() / (targets != pad_id).sum()


def warmup_rate(step: int, d_model: int, warmup: int = 4000) -> float:
    """Give the learning rate of a step: it climbs evenly, then falls with its root.

    Steps count from 1. Raises ValueError for a step before the first.
    Source: Vaswani et al. (2017), equation 3.
    """
    if step < 1:
        raise ValueError(f"step is {step}; steps count from 1.")
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@torch.no_grad()
def translate(
    model: Transformer, source: Tensor, begin_id: int, end_id: int, max_len: int
) -> Tensor:
    """Write the likeliest next token again and again, until every sentence has ended.

    Shapes: source (batch, source_len) -> (batch, at most max_len), without the
    beginning; what follows an end is filling. The model is left in its mode.
    Source: Sutskever et al. (2014), section 3.2, with a beam of one.
    """
    was_training = model.training
    model.eval()
    memory = model.encode(source)
    target = torch.full((len(source), 1), begin_id, device=source.device)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    for _ in range(max_len):
        following = model.decode(target, memory, source)[:, -1].argmax(dim=-1)
        following = following.masked_fill(ended, model.pad_id)
        target = torch.cat([target, following[:, None]], dim=1)
        ended = ended | (following == end_id)
        if ended.all():
            break
    model.train(was_training)
    return target[:, 1:]
