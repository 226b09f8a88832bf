"""Cross-attention: the decoder looks at what the encoder has read.

Chapter 08. Queries come from the decoder, keys and values from the encoder's output,
the memory. The two may have different lengths.
"""

from torch import Tensor

from solutions.masking import masked_attention, masked_softmax
from solutions.multi_head import (
    MultiHeadAttention,
    merge_heads,
    share_heads,
    split_heads,
)
from solutions.scaling import scaled_scores


def cross_attention_weights(
    queries: Tensor, keys: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Say how much each target token looks at each source token.

    Shapes: queries (..., target_len, d_k) of the decoder, keys (..., source_len, d_k)
    of the memory, mask broadcasts against (..., target_len, source_len)
    -> (..., target_len, source_len).
    Source: Vaswani et al. (2017), section 3.2.3.
    """
    return masked_softmax(scaled_scores(queries, keys), mask)


class CrossAttention(MultiHeadAttention):
    """Let every target token gather from the source what it needs, in several heads.

    The projections are those of ``MultiHeadAttention``.
    Shapes: x (batch, target_len, d_model), memory (batch, source_len, d_model), mask
    broadcasts against (batch, heads, target_len, source_len)
    -> (batch, target_len, d_model).
    Source: Vaswani et al. (2017), section 3.2.3, "encoder-decoder attention".
    """

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        """Look from the tokens ``x`` at the ``memory``."""
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Make keys and values of a memory; once is enough for a whole translation.

        Shapes: memory (batch, source_len, d_model)
        -> keys and values (batch, kv_heads, source_len, d_head).
        """
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(
        self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """Look from the tokens ``x`` at keys and values made by :meth:`read`.

        Shapes: x (batch, target_len, d_model) -> (batch, target_len, d_model).
        """
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        """Say where each head looks: (batch, heads, target_len, source_len)."""
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


def alignment(weights: Tensor) -> Tensor:
    """Name for each target token the source token that it looks at most.

    Shapes: weights (batch, heads, target_len, source_len) -> (batch, target_len) of
    integers. The heads are averaged first.
    Source: Garg et al. (2019), section 3, average of the heads.
    """
    return weights.mean(dim=1).argmax(dim=-1)
