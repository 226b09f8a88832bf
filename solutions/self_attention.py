"""Self-attention, from a stable softmax to a layer with learned projections.

Chapter 01. Every function takes batches of any leading shape and runs on the device
of its inputs. The scores are not scaled yet: chapter 04 shows why they should be.
"""

import torch
from torch import Tensor, nn


def softmax(scores: Tensor) -> Tensor:
    """Turn every row of scores into positive weights that sum to one.

    Shapes: scores (..., key_len) -> weights (..., key_len), same dtype and device.
    The last axis is the row. Scores of any finite size are safe.
    Source: Bridle (1990); the shift is in Goodfellow et al. (2016), section 4.1.
    """
    largest = scores.amax(dim=-1, keepdim=True)
    exponentials = torch.exp(scores - largest)
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def scores_with_loops(queries: Tensor, keys: Tensor) -> Tensor:
    """Compare every query with every key by a dot product, one pair at a time.

    Shapes: queries (query_len, d_k), keys (key_len, d_k) -> (query_len, key_len).
    Row i belongs to query i, column j to key j.
    Source: Luong et al. (2015), section 3.1, the "dot" score.
    """
    scores = queries.new_zeros(len(queries), len(keys))
    for i, query in enumerate(queries):
        for j, key in enumerate(keys):
            scores[i, j] = (query * key).sum()
    return scores


def output_with_loops(weights: Tensor, values: Tensor) -> Tensor:
    """Add up the values of all tokens, each as much as its weight says.

    Shapes: weights (query_len, key_len), values (key_len, d_v) -> (query_len, d_v).
    Source: Bahdanau et al. (2015), equation 5.
    """
    outputs = values.new_zeros(len(weights), values.shape[1])
    for i, row in enumerate(weights):
        for weight, value in zip(row, values, strict=True):
            outputs[i] += weight * value
    return outputs


def attention_scores(queries: Tensor, keys: Tensor) -> Tensor:
    """Compare every query with every key of its own sentence, all at once.

    Shapes: queries (..., query_len, d_k), keys (..., key_len, d_k)
    -> scores (..., query_len, key_len).
    Source: Vaswani et al. (2017), section 3.2.1, before the scaling.
    """
    return queries @ keys.transpose(-2, -1)


def attention_weights(queries: Tensor, keys: Tensor) -> Tensor:
    """Say how much each query looks at each key: every row sums to one.

    Shapes: queries (..., query_len, d_k), keys (..., key_len, d_k)
    -> weights (..., query_len, key_len).
    Source: Vaswani et al. (2017), section 3.2.1.
    """
    return softmax(attention_scores(queries, keys))


def attention(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Give every query the average of the values, weighted by its keys.

    Shapes: queries (..., query_len, d_k), keys (..., key_len, d_k),
    values (..., key_len, d_v) -> outputs (..., query_len, d_v).
    Source: Vaswani et al. (2017), equation 1, without the scaling.
    """
    weights = attention_weights(queries, keys)
    return weights.to(values.dtype) @ values  # weights may be of a wider dtype


def project(
    x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """See the same tokens in three ways: as queries, as keys and as values.

    Shapes: x (..., seq, d_model), W_q and W_k (d_model, d_k), W_v (d_model, d_v)
    -> queries and keys (..., seq, d_k), values (..., seq, d_v).
    Source: Vaswani et al. (2017), section 3.2.2, one head.
    """
    return x @ W_q, x @ W_k, x @ W_v


class SelfAttention(nn.Module):
    """Let every token of a sentence gather what it needs from the others.

    The three projections ``W_q``, ``W_k`` and ``W_v`` are linear layers without bias.
    Shapes: x (..., seq, d_model) -> outputs (..., seq, d_v).
    Source: Vaswani et al. (2017), section 3.2, one head, without the scaling.
    """

    def __init__(self, d_model: int, d_k: int, d_v: int):
        """Create the projections: ``d_model`` numbers in, ``d_k`` or ``d_v`` out."""
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Attend from every token of ``x`` to every token of ``x``."""
        return attention(self.W_q(x), self.W_k(x), self.W_v(x))


def shuffle_both_ways(
    x: Tensor, order: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor
) -> tuple[Tensor, Tensor]:
    """Shuffle the tokens before self-attention, and shuffle its outputs after it.

    Shapes: x (..., seq, d_model), order (seq,) of integers, a permutation: token
    ``order[i]`` moves to place i; W_q, W_k (d_model, d_k), W_v (d_model, d_v)
    -> (shuffled first, shuffled last), both (..., seq, d_v).
    Source: Lee et al. (2019), "Set Transformer", property 1.
    """
    shuffled_first = attention(*project(x[..., order, :], W_q, W_k, W_v))
    shuffled_last = attention(*project(x, W_q, W_k, W_v))[..., order, :]
    return shuffled_first, shuffled_last
