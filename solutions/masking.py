"""Masking: who may look at whom.

Chapter 07. A mask is boolean and True means "may attend", as in PyTorch's
``scaled_dot_product_attention``. It broadcasts against (batch, heads, query, key).
"""

import torch
from torch import Tensor

from solutions.scaling import scaled_scores


def causal_mask(query_len: int, key_len: int | None = None) -> Tensor:
    """Let every token look at itself and at what stands before it.

    With more keys than queries, the queries are the last of the tokens.
    Shapes: -> (query_len, key_len) of booleans; ``key_len`` is ``query_len`` if not
    given. Source: Vaswani et al. (2017), section 3.2.3.
    """
    key_len = query_len if key_len is None else key_len
    everything = torch.ones(query_len, key_len, dtype=torch.bool)
    return everything.tril(diagonal=key_len - query_len)


def padding_mask(tokens: Tensor, pad_id: int) -> Tensor:
    """Let nobody look at the filling behind a short sentence.

    Shapes: tokens (batch, key_len) of ids -> (batch, 1, 1, key_len) of booleans, the
    same for every head and query.
    Source: Vaswani et al. (2017), as in their published code.
    """
    return (tokens != pad_id)[:, None, None, :]


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    """Allow what every mask allows; None stands for a mask that allows everything.

    Shapes: each broadcasts against the others -> their common shape, or None.
    """
    combined = None
    for mask in masks:
        if mask is not None:
            combined = mask if combined is None else combined & mask
    return combined


def masked_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Share the weight of a row among the keys that it may look at.

    A row that may look at nothing gets weights of zero and finite gradients.
    Shapes: scores (..., query_len, key_len), mask that broadcasts against them, or
    None -> weights as scores.
    Source: Vaswani et al. (2017), section 3.2.3: minus infinity before the softmax.
    """
    if mask is None:
        return torch.softmax(scores, dim=-1)
    sees_nothing = ~mask.any(dim=-1, keepdim=True)
    # a row of nothing but -inf would be NaN: leave it whole here, and empty it after
    hidden = scores.masked_fill(~(mask | sees_nothing), -torch.inf)
    return torch.softmax(hidden, dim=-1).masked_fill(sees_nothing, 0.0)


def masked_attention(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Give every query the average of the values that it may look at.

    Shapes: queries (..., query_len, d_k), keys (..., key_len, d_k), values (...,
    key_len, d_v), mask broadcasts against (..., query_len, key_len)
    -> (..., query_len, d_v).
    Source: Vaswani et al. (2017), section 3.2.
    """
    weights = masked_softmax(scaled_scores(queries, keys), mask)
    return weights.to(values.dtype) @ values


def sliding_window_mask(seq: int, window: int) -> Tensor:
    """Let every token look at itself and at ``window - 1`` tokens before it.

    Shapes: -> (seq, seq) of booleans.
    Source: Child et al. (2019), section 4.2; Beltagy et al. (2020), section 3.1.
    """
    behind = torch.arange(seq)[:, None] - torch.arange(seq)[None, :]
    return (behind >= 0) & (behind < window)


def strided_mask(seq: int, stride: int) -> Tensor:
    """Let every token look at a near past, and far back at every stride-th token.

    It sees itself, the ``stride`` tokens before it, and all that stand a multiple of
    ``stride`` before it. Shapes: -> (seq, seq) of booleans, causal.
    Source: Child et al. (2019), section 4.3, "strided": both of its patterns in one.
    """
    behind = torch.arange(seq)[:, None] - torch.arange(seq)[None, :]
    near, far = behind <= stride, behind % stride == 0
    return (behind >= 0) & (near | far)


def fixed_mask(seq: int, stride: int, summary: int = 1) -> Tensor:
    """Let every token look at its own block, and at the last tokens of each block.

    Blocks have ``stride`` tokens, of which the last ``summary`` are seen from later.
    Shapes: -> (seq, seq) of booleans, causal.
    Source: Child et al. (2019), section 4.3, "fixed": both of its patterns in one.
    """
    places = torch.arange(seq)
    same_block = places[:, None] // stride == places[None, :] // stride
    last_ones = (places % stride >= stride - summary)[None, :]
    return (same_block | last_ones) & causal_mask(seq)


def bigbird_mask(
    num_blocks: int, block: int, num_random: int, generator: torch.Generator
) -> Tensor:
    """Let blocks of tokens look at their neighbours, at both ends, and at a few more.

    The first and the last block see all and are seen by all. Every other block sees
    itself, the block on each side, and ``num_random`` others drawn with ``generator``.
    Shapes: -> (num_blocks * block, num_blocks * block) of booleans.
    Source: Zaheer et al. (2020), section 2.
    """
    places = torch.arange(num_blocks)
    seen = (places[:, None] - places[None, :]).abs() <= 1
    seen[[0, -1], :] = True
    seen[:, [0, -1]] = True
    for row in seen[1:-1]:
        others = (~row).nonzero().flatten()
        order = torch.randperm(len(others), generator=generator)
        row[others[order[:num_random]]] = True
    return seen.repeat_interleave(block, dim=0).repeat_interleave(block, dim=1)


def sliding_window_attention(
    queries: Tensor, keys: Tensor, values: Tensor, window: int
) -> Tensor:
    """Attend within a sliding window, at a cost that grows with the length only.

    Equal to :func:`masked_attention` under :func:`sliding_window_mask`, without the
    matrix of all pairs.
    Shapes: queries and keys (..., seq, d_k), values (..., seq, d_v) -> (..., seq, d_v).
    Source: Beltagy et al. (2020), section 3.1.
    """
    seq = queries.shape[-2]
    # window - 1 rows of filling in front, so that every token has a whole window
    near_keys, near_values = (
        torch.cat([t.new_zeros(*t.shape[:-2], window - 1, t.shape[-1]), t], dim=-2)
        .unfold(-2, window, 1)  # (..., seq, d, window)
        .transpose(-2, -1)  # (..., seq, window, d)
        for t in (keys, values)
    )
    places = torch.arange(seq, device=queries.device)[:, None]
    is_there = places + torch.arange(window, device=queries.device) >= window - 1
    return masked_attention(
        queries[..., None, :], near_keys, near_values, is_there[:, None, :]
    ).squeeze(-2)
