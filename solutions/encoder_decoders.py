"""What tells T5, BART and M2M-100 apart inside: positions, scales, and who gets which.

Chapter 14. Each function is one peculiarity of a published model, on plain tensors.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from solutions.positions import relative_distances, t5_buckets


def t5_decoder_bias(
    table: Tensor, query_len: int, key_len: int, max_distance: int = 128
) -> Tensor:
    """Give what T5's decoder adds to the scores of the last ``query_len`` places.

    The queries are the last ones of ``key_len`` places: earlier keys may come from a
    cache. Distances look back only; keys ahead of a query get minus infinity.
    Shapes: table (num_buckets, heads) -> (heads, query_len, key_len).
    Source: Raffel et al. (2020), section 2.1, and their published code.
    """
    distances = relative_distances(key_len, key_len)[key_len - query_len :]
    distances = distances.to(table.device)
    buckets = t5_buckets(distances, len(table), max_distance, both_ways=False)
    bias = table[buckets].permute(2, 0, 1)  # heads come first
    return bias.masked_fill(distances > 0, -torch.inf)


def t5_decoder(
    x: Tensor, memory: Tensor, layers: list[dict[str, Tensor]], bias: Tensor
) -> Tensor:
    """Send ``x`` through the attentions of T5's decoder, with residuals, no norms.

    Each layer is a dict of matrices, used as ``x @ W``: first self-attention with
    ``W_q, W_k, W_v, W_o``, then cross-attention over ``memory`` with ``C_q, C_k, C_v,
    C_o``. One head; scores are not scaled. All layers share ``bias``, which is for
    self-attention only.
    Shapes: x (batch, seq, d_model), memory (batch, source_len, d_model),
    bias (seq, seq) -> as x.
    Source: Raffel et al. (2020), section 2.1, and their published code.
    """
    for layer in layers:
        scores = (x @ layer["W_q"]) @ (x @ layer["W_k"]).mT + bias
        x = x + torch.softmax(scores, dim=-1) @ (x @ layer["W_v"]) @ layer["W_o"]
        scores = (x @ layer["C_q"]) @ (memory @ layer["C_k"]).mT
        found = torch.softmax(scores, dim=-1) @ (memory @ layer["C_v"])
        x = x + found @ layer["C_o"]
    return x


def t5_logits(x: Tensor, table: Tensor) -> Tensor:
    """Compare vectors with the tokens' own, made smaller by the root of their width.

    Shapes: x (..., d_model), table (vocab_size, d_model) -> (..., vocab_size).
    Source: Raffel et al. (2020), in their published code.
    """
    return x * x.shape[-1] ** -0.5 @ table.T


def bart_embeddings(
    tokens: Tensor, table: Tensor, positions: Tensor, gain: Tensor, bias: Tensor
) -> Tensor:
    """Look up tokens and their positions, add them, and norm the sum.

    The position of the first token is row 2 of ``positions``, filling or not.
    Shapes: tokens (batch, seq) of ids, table (vocab_size, d_model),
    positions (max_len + 2, d_model), gain and bias (d_model,)
    -> (batch, seq, d_model).
    Source: Lewis et al. (2020), in their published code; eps is 1e-5.
    """
    x = table[tokens] + positions[2 : 2 + tokens.shape[1]]
    return F.layer_norm(x, x.shape[-1:], gain, bias, eps=1e-5)


def real_places(tokens: Tensor, pad_id: int, past: int = 0) -> Tensor:
    """Number real tokens from ``pad_id + 1`` on, as M2M-100 does; filling gets pad_id.

    ``past`` real tokens of each text have been read before.
    Shapes: tokens (batch, seq) of ids -> (batch, seq) of integers.
    Source: Fan et al. (2021), in their published code.
    """
    real = tokens != pad_id
    return (real.long().cumsum(dim=-1) + past) * real + pad_id
