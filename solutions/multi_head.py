"""Multi-head attention: several small looks at a sentence instead of one large one.

Chapter 03. Heads are made by reshaping, attend all at once, and are joined again.
"""

from collections.abc import Callable

from torch import Tensor, nn

from solutions.self_attention import attention


def head_width(d_model: int, num_heads: int) -> int:
    """Share the width of a token evenly among the heads; give the width of one.

    Raises ValueError when ``d_model`` is not a multiple of ``num_heads``.
    Source: Vaswani et al. (2017), section 3.2.2: "d_k = d_v = d_model / h".
    """
    if d_model % num_heads:
        raise ValueError(
            f"d_model {d_model} cannot be shared among {num_heads} heads; "
            "expected a multiple of the number of heads."
        )
    return d_model // num_heads


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Cut each token's vector into one piece for each head.

    Shapes: x (batch, seq, d_model) -> (batch, num_heads, seq, d_head), where
    d_head = d_model / num_heads. Raises ValueError when that is not a whole number.
    Source: Vaswani et al. (2017), section 3.2.2.
    """
    batch, seq, d_model = x.shape
    d_head = head_width(d_model, num_heads)
    # (batch, seq, d_model) -> (batch, seq, heads, d_head), then heads before seq
    return x.reshape(batch, seq, num_heads, d_head).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """Join the pieces of all heads to one vector for each token.

    Shapes: x (batch, heads, seq, d_head) -> (batch, seq, heads * d_head).
    Source: Vaswani et al. (2017), section 3.2.2, "Concat".
    """
    return x.transpose(1, 2).flatten(start_dim=2)


def share_heads(x: Tensor, num_heads: int) -> Tensor:
    """Let several query heads in a row use the same key or value head.

    Shapes: x (batch, kv_heads, seq, d_head) -> (batch, num_heads, seq, d_head).
    Raises ValueError when ``num_heads`` is not a multiple of the heads there are.
    Source: Shazeer (2019) for one head; Ainslie et al. (2023) for groups.
    """
    kv_heads = x.shape[1]
    if num_heads % kv_heads:
        raise ValueError(
            f"{num_heads} query heads cannot share {kv_heads} key heads evenly; "
            "expected a multiple."
        )
    return x.repeat_interleave(num_heads // kv_heads, dim=1)


class MultiHeadAttention(nn.Module):
    """Attend with several heads at once, and mix what they found.

    ``num_kv_heads`` key and value heads are shared by the query heads: as many as
    ``num_heads`` by default, one for multi-query, between them for grouped-query.
    ``attend`` is what every head does. ``W_q, W_k, W_v, W_o`` have no bias.
    Shapes: x (batch, seq, d_model) -> (batch, seq, d_model). Raises ValueError when
    ``d_model`` or the query heads cannot be shared evenly.
    Source: Vaswani et al. (2017), section 3.2.2.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        num_kv_heads: int | None = None,
        attend: Callable[..., Tensor] = attention,
    ):
        """Create the four projections; keys and values may have fewer heads."""
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: Tensor, **options) -> Tensor:
        """Attend from every token to every token; ``options`` go to ``attend``."""
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = split_heads(self.W_k(x), self.num_kv_heads)
        values = split_heads(self.W_v(x), self.num_kv_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        return self.W_o(merge_heads(self.attend(queries, keys, values, **options)))


def attention_flops(seq: int, d_model: int, num_heads: int) -> int:
    """Count the multiplications and additions of one layer of multi-head attention.

    Four projections, the scores and the weighted sums; softmax is left out. A product
    of (m, n) by (n, p) takes 2mnp operations. Raises ValueError when ``num_heads``
    does not divide ``d_model``.
    Source: Kaplan et al. (2020), table 1, counts the same way.
    """
    d_head = head_width(d_model, num_heads)
    projections = 4 * (2 * seq * d_model * d_model)
    scores_and_sums = num_heads * 2 * (2 * seq * seq * d_head)
    return projections + scores_and_sums


def without_head(layer: MultiHeadAttention, head: int) -> Tensor:
    """Give the output matrix of a layer as if one head had nothing to say.

    Shapes: -> (d_model, d_model), as ``layer.W_o.weight``, which stays as it is: the
    columns that read this head are zero. Raises IndexError when there is no such head.
    Source: Michel et al. (2019), section 2.2.
    """
    weight = layer.W_o.weight.detach().clone()
    # (d_model, d_model) seen as (d_model, heads, d_head): the same numbers in memory
    weight.unflatten(1, (layer.num_heads, -1))[:, head] = 0
    return weight
