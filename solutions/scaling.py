"""Scaling: why scores are divided by the root of the width of a head.

Chapter 04. The scale keeps the variance of the scores near one, so that softmax
stays where it has a gradient.
"""

import math

import torch
from torch import Tensor

from solutions.multi_head import merge_heads, split_heads
from solutions.self_attention import attention_scores, softmax


def dot_product_variance(d_k: int, samples: int, generator: torch.Generator) -> float:
    """Measure how widely dot products of random vectors spread.

    Draws ``samples`` pairs of vectors of ``d_k`` standard normal numbers with
    ``generator``, and gives the variance of their dot products; about ``d_k``.
    Source: Vaswani et al. (2017), footnote 4.
    """
    queries = torch.randn(samples, d_k, generator=generator)
    keys = torch.randn(samples, d_k, generator=generator)
    return (queries * keys).sum(dim=-1).var().item()


def entropy(weights: Tensor) -> Tensor:
    """Tell how evenly each row shares its weight: 0 for one key, ln n for n alike.

    Shapes: weights (..., key_len) -> (...), in nats. A weight of zero adds nothing.
    Source: Shannon (1948), section 6.
    """
    return -torch.xlogy(weights, weights).sum(dim=-1)


def softmax_jacobian(weights: Tensor) -> Tensor:
    """Tell how every weight of a row moves when one of its scores is moved.

    Shapes: weights (..., key_len) -> (..., key_len, key_len), entry (i, j) is the
    derivative of weight i by score j: ``a_i (1 - a_i)`` and ``-a_i a_j``.
    Source: Bridle (1990), section 3.
    """
    return torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]


def scaled_scores(queries: Tensor, keys: Tensor) -> Tensor:
    """Compare queries and keys, on a scale that does not grow with their width.

    Shapes: queries (..., query_len, d_k), keys (..., key_len, d_k)
    -> (..., query_len, key_len). The scale is ``1 / sqrt(d_k)``.
    Source: Vaswani et al. (2017), section 3.2.1.
    """
    return attention_scores(queries, keys) / math.sqrt(queries.shape[-1])


def scaled_attention(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Give every query the average of the values, weighted by scaled scores.

    Shapes: queries (..., query_len, d_k), keys (..., key_len, d_k),
    values (..., key_len, d_v) -> (..., query_len, d_v).
    Source: Vaswani et al. (2017), equation 1.
    """
    weights = softmax(scaled_scores(queries, keys))
    return weights.to(values.dtype) @ values


def scaled_heads(
    queries: Tensor, keys: Tensor, values: Tensor, num_heads: int
) -> Tensor:
    """Attend in several heads, each scaled by its own width and not by d_model.

    Shapes: queries, keys and values (batch, seq, d_model) -> (batch, seq, d_model).
    Source: Vaswani et al. (2017), section 3.2.2, before the output projection.
    """
    heads = [split_heads(t, num_heads) for t in (queries, keys, values)]
    return merge_heads(scaled_attention(*heads))
