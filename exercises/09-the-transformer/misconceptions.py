"""Wrong answers that learners really give in chapter 09, each with its explanation.

``check`` is the check that must catch the answer; ``sentence`` is what the learner is
told; ``section`` is the heading of chapter 09 that explains it.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from exercises.answers import wrong, wrong_choice
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
from solutions.transformer import (
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    smooth_targets,
)

ENCODER = "An encoder layer"
DECODER = "A decoder layer"
STACKS = "Stacks"
MODEL = "The whole model"
SMOOTH = "Targets that are not too sure"
RATE = "A gentle start"
WRITE = "Writing one token after another"
CONTROLS = "Three models that fail"


@wrong(
    check="encoder-layer",
    section=ENCODER,
    sentence="the norm stands before the sub-layers (pre-norm). The model of 2017 is "
    "post-norm: the norm comes after the sum, which is what Residual does by "
    "itself.",
)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, attend, norm_first=True, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), norm_first=True, dropout=dropout
        )

    def forward(self, x, mask=None):
        return self.feed_forward(self.attention(x, mask=mask))


@wrong(
    check="encoder-layer",
    section=ENCODER,
    sentence="the mask is not handed on, so that tokens look at the filling. Give it "
    "to the attention: self.attention(x, mask=mask).",
)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, mask=None):
        return self.feed_forward(self.attention(x))


@wrong(
    check="encoder-layer",
    section=ENCODER,
    sentence="the feed-forward sub-layer is created and never called. After the tokens "
    "have looked at each other, each of them must think for itself.",
)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, mask=None):
        return self.attention(x, mask=mask)


@wrong(
    check="encoder-layer",
    section=ENCODER,
    sentence="the feed-forward comes first. Attention is the first sub-layer, feed- "
    "forward the second.",
)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, mask=None):
        return self.attention(self.feed_forward(x), mask=mask)


@wrong(
    check="encoder-layer",
    section=ENCODER,
    sentence="both sub-layers share one norm. Each has a norm of its own, with its own "
    "gain and bias.",
)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )
        self.feed_forward.norm = self.attention.norm

    def forward(self, x, mask=None):
        return self.feed_forward(self.attention(x, mask=mask))


@wrong(
    check="encoder-layer",
    section=ENCODER,
    sentence="the residual is missing: the norm is taken of what the sub-layer gives "
    "alone. It belongs around the sum x + sublayer(x).",
)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, mask=None):
        h = self.attention.norm(self.attention.sublayer(x, mask=mask))
        return self.feed_forward.norm(self.feed_forward.sublayer(h))


@wrong(
    check="encoder-layer",
    section=ENCODER,
    sentence="the tokens are added a second time. A Residual adds x by itself already.",
)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, mask=None):
        x = x + self.attention(x, mask=mask)
        return x + self.feed_forward(x)


@wrong(
    check="encoder-layer",
    section=ENCODER,
    sentence="the heads do not know what a mask is: MultiHeadAttention was created "
    "without attend=masked_attention.",
)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, mask=None):
        return self.feed_forward(self.attention(x, mask=mask))


@wrong(
    check="encoder-layer",
    section=ENCODER,
    sentence="the mask is turned round, so that only the filling is looked at. True "
    "means: may attend.",
)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, mask=None):
        return self.feed_forward(
            self.attention(x, mask=None if mask is None else ~mask)
        )


@wrong(
    check="encoder-layer",
    section=ENCODER,
    sentence="a causal mask is added. The encoder reads the whole sentence: every "
    "token may look at every other.",
)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, mask=None):
        causal = causal_mask(x.shape[1]).to(x.device)
        mask = combine_masks(causal, mask)
        return self.feed_forward(self.attention(x, mask=mask))


@wrong(
    check="encoder-layer",
    section=ENCODER,
    sentence="there is one norm too many: the result is normalised once more after the "
    "second sub-layer.",
)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, mask=None):
        x = self.feed_forward(self.attention(x, mask=mask))
        return F.layer_norm(x, x.shape[-1:])


@wrong(
    check="encoder-layer",
    section=ENCODER,
    sentence="both sub-layers read the same x, side by side. The second must read what "
    "the first has made.",
)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, mask=None):
        attended = self.attention.sublayer(x, mask=mask)
        thought = self.feed_forward.sublayer(x)
        x = self.attention.norm(x + attended)
        return self.feed_forward.norm(x + thought)


@wrong(
    check="encoder-layer",
    section=ENCODER,
    sentence="d_ff is not used, so that the feed-forward network has four times the "
    "width of the model instead of the width asked for.",
)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.feed_forward = Residual(d_model, FeedForward(d_model), dropout=dropout)

    def forward(self, x, mask=None):
        return self.feed_forward(self.attention(x, mask=mask))


@wrong(
    check="encoder-layer",
    section=ENCODER,
    sentence="the caller's tokens are changed: `+=` works in place. Write x = x + ..., "
    "or let the Residual do it.",
)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, mask=None):
        with torch.no_grad():
            attended = self.attention.sublayer(x, mask=mask)
        x += attended
        return self.feed_forward(self.attention.norm(x))


@wrong(
    check="encoder-layer",
    section=ENCODER,
    sentence="dropout is not handed on to the two Residuals, so that nothing is ever "
    "dropped in training.",
    seen="graded",
)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, attend)
        self.feed_forward = Residual(d_model, FeedForward(d_model, d_ff))

    def forward(self, x, mask=None):
        return self.feed_forward(self.attention(x, mask=mask))


@wrong(
    check="encoder-layer",
    section=ENCODER,
    sentence="dropout acts after the norm, on the whole sum, and takes away the tokens "
    "themselves. It belongs on what the sub-layer adds.",
    seen="graded",
)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, attend)
        self.feed_forward = Residual(d_model, FeedForward(d_model, d_ff))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        x = self.dropout(self.attention(x, mask=mask))
        return self.dropout(self.feed_forward(x))


@wrong(
    check="encoder-layer",
    section=ENCODER,
    sentence="only the first sub-layer has dropout. The feed-forward sub-layer needs "
    "it too.",
    seen="graded",
)
class EncoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.feed_forward = Residual(d_model, FeedForward(d_model, d_ff))

    def forward(self, x, mask=None):
        return self.feed_forward(self.attention(x, mask=mask))


@wrong(
    check="decoder-layer",
    section=DECODER,
    sentence="the norm stands before the sub-layers (pre-norm). The model of 2017 is "
    "post-norm: the norm comes after the sum.",
)
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, norm_first=True, dropout=dropout)
        self.cross_attention = Residual(
            d_model, cross, norm_first=True, dropout=dropout
        )
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), norm_first=True, dropout=dropout
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.attention(x, mask=target_mask)
        x = self.cross_attention(x, memory, mask=memory_mask)
        return self.feed_forward(x)


@wrong(
    check="decoder-layer",
    section=DECODER,
    sentence="cross-attention comes before self-attention. First the target looks at "
    "itself, then over at the source.",
)
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.cross_attention = Residual(d_model, cross, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.cross_attention(x, memory, mask=memory_mask)
        x = self.attention(x, mask=target_mask)
        return self.feed_forward(x)


@wrong(
    check="decoder-layer",
    section=DECODER,
    sentence="the two masks are exchanged. target_mask is for self-attention, "
    "memory_mask for cross-attention.",
)
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.cross_attention = Residual(d_model, cross, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.attention(x, mask=memory_mask)
        x = self.cross_attention(x, memory, mask=target_mask)
        return self.feed_forward(x)


@wrong(
    check="decoder-layer",
    section=DECODER,
    sentence="the mask of the target is used for the source as well. The source is "
    "there from the beginning, all of it: it has a mask of its own, "
    "memory_mask.",
)
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.cross_attention = Residual(d_model, cross, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.attention(x, mask=target_mask)
        x = self.cross_attention(x, memory, mask=target_mask)
        return self.feed_forward(x)


@wrong(
    check="decoder-layer",
    section=DECODER,
    sentence="cross-attention looks at the target again and never at the memory. Keys "
    "and values must come from the memory.",
)
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.cross_attention = Residual(d_model, cross, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.attention(x, mask=target_mask)
        x = self.cross_attention(x, x)
        return self.feed_forward(x)


@wrong(
    check="decoder-layer",
    section=DECODER,
    sentence="the target mask is not handed on, so that every token sees those that "
    "come after it.",
)
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.cross_attention = Residual(d_model, cross, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.attention(x)
        x = self.cross_attention(x, memory, mask=memory_mask)
        return self.feed_forward(x)


@wrong(
    check="decoder-layer",
    section=DECODER,
    sentence="the memory mask is not handed on, so that the filling of the source is "
    "looked at.",
)
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.cross_attention = Residual(d_model, cross, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.attention(x, mask=target_mask)
        x = self.cross_attention(x, memory)
        return self.feed_forward(x)


@wrong(
    check="decoder-layer",
    section=DECODER,
    sentence="the cross-attention sub-layer is never called, so that nothing of the "
    "source reaches the target.",
)
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.cross_attention = Residual(d_model, cross, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.attention(x, mask=target_mask)
        return self.feed_forward(x)


@wrong(
    check="decoder-layer",
    section=DECODER,
    sentence="the self-attention sub-layer is never called, so that a target token "
    "knows nothing of those before it.",
)
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.cross_attention = Residual(d_model, cross, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.cross_attention(x, memory, mask=memory_mask)
        return self.feed_forward(x)


@wrong(
    check="decoder-layer",
    section=DECODER,
    sentence="the feed-forward sub-layer is never called. It is the third.",
)
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.cross_attention = Residual(d_model, cross, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.attention(x, mask=target_mask)
        x = self.cross_attention(x, memory, mask=memory_mask)
        return x


@wrong(
    check="decoder-layer",
    section=DECODER,
    sentence="self-attention and cross-attention read the same x, side by side, and "
    "are added. Cross-attention must read what self-attention has made.",
)
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.cross_attention = Residual(d_model, cross, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        looked_back = self.attention(x, mask=target_mask)
        looked_over = self.cross_attention(x, memory, mask=memory_mask)
        return self.feed_forward(looked_back + looked_over)


@wrong(
    check="decoder-layer",
    section=DECODER,
    sentence="one norm serves two sub-layers. Each of the three has its own.",
)
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.cross_attention = Residual(d_model, cross, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )
        self.cross_attention.norm = self.attention.norm

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.attention(x, mask=target_mask)
        x = self.cross_attention(x, memory, mask=memory_mask)
        return self.feed_forward(x)


@wrong(
    check="decoder-layer",
    section=DECODER,
    sentence="cross-attention stands without its residual: what it found replaces the "
    "target instead of being added to it.",
)
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.cross_attention = Residual(d_model, cross, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.attention(x, mask=target_mask)
        found = self.cross_attention.sublayer(x, memory, mask=memory_mask)
        x = self.cross_attention.norm(found)
        return self.feed_forward(x)


@wrong(
    check="decoder-layer",
    section=DECODER,
    sentence="a mask is turned round. True means: may attend.",
)
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.cross_attention = Residual(d_model, cross, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.attention(x, mask=None if target_mask is None else ~target_mask)
        x = self.cross_attention(x, memory, mask=memory_mask)
        return self.feed_forward(x)


@wrong(
    check="decoder-layer",
    section=DECODER,
    sentence="a causal mask is laid over the source. The target may look at the whole "
    "of the source, however far it has come.",
)
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.cross_attention = Residual(d_model, cross, dropout=dropout)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.attention(x, mask=target_mask)
        causal = causal_mask(x.shape[1], memory.shape[1]).to(x.device)
        mask = combine_masks(causal, memory_mask)
        x = self.cross_attention(x, memory, mask=mask)
        return self.feed_forward(x)


@wrong(
    check="decoder-layer",
    section=DECODER,
    sentence="dropout is missing from cross-attention. All three sub-layers have it.",
    seen="graded",
)
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend, dropout=dropout)
        self.cross_attention = Residual(d_model, cross)
        self.feed_forward = Residual(
            d_model, FeedForward(d_model, d_ff), dropout=dropout
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.attention(x, mask=target_mask)
        x = self.cross_attention(x, memory, mask=memory_mask)
        return self.feed_forward(x)


@wrong(
    check="decoder-layer",
    section=DECODER,
    sentence="dropout is not handed on to the Residuals, so that nothing is ever "
    "dropped in training.",
    seen="graded",
)
class DecoderLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        attend = MultiHeadAttention(d_model, num_heads, attend=masked_attention)
        cross = CrossAttention(d_model, num_heads)
        self.attention = Residual(d_model, attend)
        self.cross_attention = Residual(d_model, cross)
        self.feed_forward = Residual(d_model, FeedForward(d_model, d_ff))

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.attention(x, mask=target_mask)
        x = self.cross_attention(x, memory, mask=memory_mask)
        return self.feed_forward(x)


@wrong(
    check="encoder",
    section=STACKS,
    sentence="one layer is used again and again. Every layer of the stack needs "
    "weights of its own: create each of them.",
)
class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = nn.ModuleList(
            [EncoderLayer(d_model, num_heads, d_ff, **more)] * num_layers
        )

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


@wrong(
    check="encoder",
    section=STACKS,
    sentence="the layers are in a plain list, where PyTorch does not find their "
    "parameters. Use nn.ModuleList.",
)
class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = [
            EncoderLayer(d_model, num_heads, d_ff, **more) for _ in range(num_layers)
        ]

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


@wrong(
    check="encoder",
    section=STACKS,
    sentence="the mask is not handed on to the layers.",
)
class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, **more) for _ in range(num_layers)
        )

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x)
        return x


@wrong(
    check="encoder",
    section=STACKS,
    sentence="only the first layer gets the mask. The filling is there in every layer.",
)
class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, **more) for _ in range(num_layers)
        )

    def forward(self, x, mask=None):
        for layer in self.layers:
            x, mask = layer(x, mask), None
        return x


@wrong(
    check="encoder",
    section=STACKS,
    sentence="every layer reads the tokens that came in, so that only the last one "
    "counts. Each must read what the one before has written.",
)
class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, **more) for _ in range(num_layers)
        )

    def forward(self, x, mask=None):
        for layer in self.layers:
            outputs = layer(x, mask)
        return outputs


@wrong(
    check="encoder",
    section=STACKS,
    sentence="there is a norm at the end. Post-norm layers end with one already; the "
    "model of 2017 has no other.",
)
class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, **more) for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


@wrong(
    check="encoder",
    section=STACKS,
    sentence="one layer is missing.",
)
class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, **more)
            for _ in range(num_layers - 1)
        )

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


@wrong(
    check="encoder",
    section=STACKS,
    sentence="the tokens that came in are added to what the stack gives. Each sub- "
    "layer has its residual already.",
)
class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, **more) for _ in range(num_layers)
        )

    def forward(self, x, mask=None):
        start = x
        for layer in self.layers:
            x = layer(x, mask)
        return start + x


@wrong(
    check="encoder",
    section=STACKS,
    sentence="the further options, such as dropout, do not reach the layers: hand on "
    "**more.",
    seen="graded",
)
class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff) for _ in range(num_layers)
        )

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


@wrong(
    check="encoder",
    section=STACKS,
    sentence="the layers are copies of one: they have parameters of their own, and all "
    "begin with the same numbers. Create each of them anew.",
    seen="graded",
)
class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        layer = EncoderLayer(d_model, num_heads, d_ff, **more)
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, **more) for _ in range(num_layers)
        )
        for copy in self.layers:
            copy.load_state_dict(layer.state_dict())

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


@wrong(
    check="decoder",
    section=STACKS,
    sentence="one layer is used again and again. Every layer of the stack needs "
    "weights of its own: create each of them.",
)
class Decoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = nn.ModuleList(
            [DecoderLayer(d_model, num_heads, d_ff, **more)] * num_layers
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        for layer in self.layers:
            x = layer(x, memory, target_mask, memory_mask)
        return x


@wrong(
    check="decoder",
    section=STACKS,
    sentence="the layers are in a plain list, where PyTorch does not find their "
    "parameters. Use nn.ModuleList.",
)
class Decoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = [
            DecoderLayer(d_model, num_heads, d_ff, **more) for _ in range(num_layers)
        ]

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        for layer in self.layers:
            x = layer(x, memory, target_mask, memory_mask)
        return x


@wrong(
    check="decoder",
    section=STACKS,
    sentence="from the second layer on, the target is taken for the memory. All layers "
    "look at the same memory, the encoder's.",
)
class Decoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff, **more) for _ in range(num_layers)
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        for layer in self.layers:
            x = memory = layer(x, memory, target_mask, memory_mask)
        return x


@wrong(
    check="decoder",
    section=STACKS,
    sentence="the two masks are exchanged on their way to the layers.",
)
class Decoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff, **more) for _ in range(num_layers)
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        for layer in self.layers:
            x = layer(x, memory, memory_mask, target_mask)
        return x


@wrong(
    check="decoder",
    section=STACKS,
    sentence="the masks are not handed on to the layers.",
)
class Decoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff, **more) for _ in range(num_layers)
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        for layer in self.layers:
            x = layer(x, memory)
        return x


@wrong(
    check="decoder",
    section=STACKS,
    sentence="the target mask is handed on, and the memory mask is not.",
)
class Decoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff, **more) for _ in range(num_layers)
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        for layer in self.layers:
            x = layer(x, memory, target_mask)
        return x


@wrong(
    check="decoder",
    section=STACKS,
    sentence="every layer reads the tokens that came in, so that only the last one "
    "counts. Each must read what the one before has written.",
)
class Decoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff, **more) for _ in range(num_layers)
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        for layer in self.layers:
            outputs = layer(x, memory, target_mask, memory_mask)
        return outputs


@wrong(
    check="decoder",
    section=STACKS,
    sentence="there is a norm at the end. Post-norm layers end with one already; the "
    "model of 2017 has no other.",
)
class Decoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff, **more) for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        for layer in self.layers:
            x = layer(x, memory, target_mask, memory_mask)
        return self.norm(x)


@wrong(
    check="decoder",
    section=STACKS,
    sentence="the further options, such as dropout, do not reach the layers: hand on "
    "**more.",
    seen="graded",
)
class Decoder(nn.Module):
    def __init__(self, num_layers, d_model, num_heads, d_ff, **more):
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff) for _ in range(num_layers)
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        for layer in self.layers:
            x = layer(x, memory, target_mask, memory_mask)
        return x


@wrong(
    check="transformer",
    section=MODEL,
    sentence="the vectors are not multiplied by the root of d_model. They begin small, "
    "and would be drowned by the sinusoids.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="the matrix of the output is cut off from the graph (detach, .data or "
    "no_grad): the vectors learn from the tokens that go in, and not from those that "
    "come out.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.detach().T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="there is dropout before the output as well. It belongs to the embedded "
    "tokens, and inside the stacks.",
    seen="graded",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return self.dropout(x) @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="the sinusoids are multiplied by the root of d_model as well. Multiply "
    "the vectors first, then add the positions.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens)
        return self.dropout(
            (x + sinusoidal_positions(x.shape[1], d_model).to(x)) * math.sqrt(d_model)
        )

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=CONTROLS,
    sentence="positions are not added, so that the source is a bag of words.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x)

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="the sinusoids follow the batch instead of the sentence: the axis of the "
    "places is the second one.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(
            x + sinusoidal_positions(x.shape[0], d_model).to(x)[:, None]
        )

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="the vectors are divided by the root of d_model. They begin small "
    "already: multiply.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) / math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="the result has been turned into probabilities. The loss wants the scores "
    "as they are, and takes the softmax itself.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return torch.softmax(x @ self.embedding.weight.T, dim=-1)

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="the output has a matrix of its own. In this model one matrix serves "
    "source, target and output.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)
        self.output = nn.Linear(d_model, vocab_size)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return self.output(x)

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="source and target have an embedding each. In this model one matrix "
    "serves both, and the output.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)
        self.source_embedding = nn.Embedding(vocab_size, d_model)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(
            self.embed(source) + 0 * self.source_embedding(source),
            padding_mask(source, self.pad_id),
        )

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="the scores are multiplied by the root of d_model. That belongs to the "
    "way in only.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T * math.sqrt(x.shape[-1])

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="the encoder has a causal mask. It may read the whole source, both ways.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(
            self.embed(source),
            combine_masks(
                causal_mask(source.shape[1]), padding_mask(source, self.pad_id)
            ),
        )

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="the encoder is never used: the decoder looks at the embedded source.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.embed(source)

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="the scores are normalised over the target tokens or shifted by one "
    "place. Give the scores of every place as they are.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return (x @ self.embedding.weight.T).log_softmax(dim=1)

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="forward and decode disagree: forward reads the target as if it were the "
    "source.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(target_in), target_in)


@wrong(
    check="no-leak",
    section=CONTROLS,
    sentence="the causal mask is missing. In training every token sees the one that it "
    "should predict, and copies it.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        masks = (
            padding_mask(target_in, self.pad_id),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="no-leak",
    section=MODEL,
    sentence="the causal mask is shifted by one place, so that every token sees the "
    "next: exactly the one that it should predict.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        seq = target_in.shape[1]
        causal = torch.ones(seq, seq, device=target_in.device).tril(1).bool()
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="no-leak",
    section=MODEL,
    sentence="the causal mask is transposed: tokens look at what comes after them, and "
    "not at what came before.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).T.to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="no-leak",
    section=MODEL,
    sentence="the encoder looks at the filling of the source: encode has no padding "
    "mask.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="no-leak",
    section=MODEL,
    sentence="the decoder looks at the filling of the source: its cross-attention has "
    "no padding mask.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (combine_masks(causal, padding_mask(target_in, self.pad_id)), None)
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="no-leak",
    section=MODEL,
    sentence="the masks are combined with OR: allowed is what one of them allows. Only "
    "what both allow may be seen.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            causal | padding_mask(target_in, self.pad_id),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="no-leak",
    section=CONTROLS,
    sentence="cross-attention does not reach the source: the memory is replaced by "
    "zeros.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), torch.zeros_like(memory), *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="no-leak",
    section=MODEL,
    sentence="filling inside the target is looked at. The target has a padding mask as "
    "well as a causal one.",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (causal, padding_mask(source, self.pad_id))
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="filling is taken to be 0, whatever pad_id says.",
    seen="graded",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = 0
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="the embedded tokens have no dropout. It acts on the sum of vectors and "
    "positions too.",
    seen="graded",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return x + sinusoidal_positions(x.shape[1], d_model).to(x)

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="the embedding keeps PyTorch's beginning, with a standard deviation of 1. "
    "Multiplied by the root of d_model it is too large, and the first scores "
    "are much too sure.",
    seen="graded",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="dropout does not reach the two stacks.",
    seen="graded",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes)
        self.decoder = Decoder(num_layers, **sizes)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(x.shape[1], d_model).to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="transformer",
    section=MODEL,
    sentence="the table of positions ends at a fixed length, and a longer sentence has "
    "no place. Make as many as the sentence is long.",
    seen="graded",
)
class Transformer(nn.Module):
    def __init__(
        self, vocab_size, d_model, num_heads, d_ff, num_layers, dropout=0.1, pad_id=0
    ):
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5))
        self.dropout = nn.Dropout(dropout)
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
        self.encoder = Encoder(num_layers, **sizes, dropout=dropout)
        self.decoder = Decoder(num_layers, **sizes, dropout=dropout)

    def embed(self, tokens):
        d_model = self.embedding.embedding_dim
        x = self.embedding(tokens) * math.sqrt(d_model)
        return self.dropout(x + sinusoidal_positions(64, d_model)[: x.shape[1]].to(x))

    def encode(self, source):
        return self.encoder(self.embed(source), padding_mask(source, self.pad_id))

    def decode(self, target_in, memory, source):
        causal = causal_mask(target_in.shape[1]).to(target_in.device)
        masks = (
            combine_masks(causal, padding_mask(target_in, self.pad_id)),
            padding_mask(source, self.pad_id),
        )
        x = self.decoder(self.embed(target_in), memory, *masks)
        return x @ self.embedding.weight.T

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)


@wrong(
    check="smooth-targets",
    section=SMOOTH,
    sentence="the filling gets a share. It must never be predicted: its probability is "
    "zero, and V - 2 others share.",
)
def smooth_targets(targets, vocab_size, smoothing, pad_id=0):
    shared = smoothing / (vocab_size - 2)
    smooth = torch.full((*targets.shape, vocab_size), shared, device=targets.device)
    smooth.scatter_(-1, targets[..., None], 1 - smoothing)
    return smooth.masked_fill((targets == pad_id)[..., None], 0)


@wrong(
    check="smooth-targets",
    section=SMOOTH,
    sentence="all tokens share what is left, the right one and the filling too. That "
    "is PyTorch's label_smoothing; here only the others share.",
)
def smooth_targets(targets, vocab_size, smoothing, pad_id=0):
    hard = F.one_hot(targets, vocab_size).float()
    smooth = hard * (1 - smoothing) + smoothing / vocab_size
    return smooth.masked_fill((targets == pad_id)[..., None], 0)


@wrong(
    check="smooth-targets",
    section=SMOOTH,
    sentence="a place of filling has targets. It must be zero everywhere, so that it "
    "adds nothing to the loss.",
)
def smooth_targets(targets, vocab_size, smoothing, pad_id=0):
    shared = smoothing / (vocab_size - 2)
    smooth = torch.full((*targets.shape, vocab_size), shared, device=targets.device)
    smooth.scatter_(-1, targets[..., None], 1 - smoothing)
    smooth[..., pad_id] = 0
    return smooth


@wrong(
    check="smooth-targets",
    section=SMOOTH,
    sentence="the rest is divided by V - 1, although only V - 2 tokens share it: the "
    "rows do not add up to one.",
)
def smooth_targets(targets, vocab_size, smoothing, pad_id=0):
    shared = smoothing / (vocab_size - 1)
    smooth = torch.full((*targets.shape, vocab_size), shared, device=targets.device)
    smooth.scatter_(-1, targets[..., None], 1 - smoothing)
    smooth[..., pad_id] = 0
    return smooth.masked_fill((targets == pad_id)[..., None], 0)


@wrong(
    check="smooth-targets",
    section=SMOOTH,
    sentence="the rest is divided by V, although only V - 2 tokens share it: the rows "
    "do not add up to one.",
)
def smooth_targets(targets, vocab_size, smoothing, pad_id=0):
    shared = smoothing / vocab_size
    smooth = torch.full((*targets.shape, vocab_size), shared, device=targets.device)
    smooth.scatter_(-1, targets[..., None], 1 - smoothing)
    smooth[..., pad_id] = 0
    return smooth.masked_fill((targets == pad_id)[..., None], 0)


@wrong(
    check="smooth-targets",
    section=SMOOTH,
    sentence="the right token keeps all of its probability, so that a row adds up to "
    "more than one. It gets 1 - smoothing.",
)
def smooth_targets(targets, vocab_size, smoothing, pad_id=0):
    shared = smoothing / (vocab_size - 2)
    smooth = torch.full((*targets.shape, vocab_size), shared, device=targets.device)
    smooth.scatter_(-1, targets[..., None], 1)
    smooth[..., pad_id] = 0
    return smooth.masked_fill((targets == pad_id)[..., None], 0)


@wrong(
    check="smooth-targets",
    section=SMOOTH,
    sentence="nothing is smoothed: the right token has everything.",
)
def smooth_targets(targets, vocab_size, smoothing, pad_id=0):
    shared = 0
    smooth = torch.full((*targets.shape, vocab_size), shared, device=targets.device)
    smooth.scatter_(-1, targets[..., None], 1)
    smooth[..., pad_id] = 0
    return smooth.masked_fill((targets == pad_id)[..., None], 0)


@wrong(
    check="smooth-targets",
    section=SMOOTH,
    sentence="the roles are exchanged: the right token gets `smoothing`, the others "
    "share the rest.",
)
def smooth_targets(targets, vocab_size, smoothing, pad_id=0):
    shared = (1 - smoothing) / (vocab_size - 2)
    smooth = torch.full((*targets.shape, vocab_size), shared, device=targets.device)
    smooth.scatter_(-1, targets[..., None], smoothing)
    smooth[..., pad_id] = 0
    return smooth.masked_fill((targets == pad_id)[..., None], 0)


@wrong(
    check="smooth-targets",
    section=SMOOTH,
    sentence="the right token gets its share of the rest as well, beside its 1 - "
    "smoothing.",
)
def smooth_targets(targets, vocab_size, smoothing, pad_id=0):
    shared = smoothing / (vocab_size - 2)
    smooth = torch.full((*targets.shape, vocab_size), shared, device=targets.device)
    smooth.scatter_(-1, targets[..., None], 1 - smoothing + shared)
    smooth[..., pad_id] = 0
    return smooth.masked_fill((targets == pad_id)[..., None], 0)


@wrong(
    check="smooth-targets",
    section=SMOOTH,
    sentence="the targets of the caller were changed in place.",
)
def smooth_targets(targets, vocab_size, smoothing, pad_id=0):
    targets.clamp_(min=1)
    shared = smoothing / (vocab_size - 2)
    smooth = torch.full((*targets.shape, vocab_size), shared, device=targets.device)
    smooth.scatter_(-1, targets[..., None], 1 - smoothing)
    smooth[..., pad_id] = 0
    return smooth.masked_fill((targets == pad_id)[..., None], 0)


@wrong(
    check="smooth-targets",
    section=SMOOTH,
    sentence="filling is taken to be 0, whatever pad_id says.",
    seen="graded",
)
def smooth_targets(targets, vocab_size, smoothing, pad_id=0):
    pad_id = 0
    shared = smoothing / (vocab_size - 2)
    smooth = torch.full((*targets.shape, vocab_size), shared, device=targets.device)
    smooth.scatter_(-1, targets[..., None], 1 - smoothing)
    smooth[..., pad_id] = 0
    return smooth.masked_fill((targets == pad_id)[..., None], 0)


@wrong(
    check="smoothing-loss",
    section=SMOOTH,
    sentence="the softmax is taken twice: the loss wants raw scores, and log_softmax "
    "is enough.",
)
def label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=0):
    smooth = smooth_targets(targets, logits.shape[-1], smoothing, pad_id)
    losses = -(smooth * torch.log_softmax(torch.softmax(logits, dim=-1), dim=-1)).sum(
        dim=-1
    )
    return losses.sum() / (targets != pad_id).sum()


@wrong(
    check="smoothing-loss",
    section=SMOOTH,
    sentence="the average is taken over all places, filling included. Divide by the "
    "number of real tokens.",
)
def label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=0):
    smooth = smooth_targets(targets, logits.shape[-1], smoothing, pad_id)
    losses = -(smooth * torch.log_softmax(logits, dim=-1)).sum(dim=-1)
    return losses.mean()


@wrong(
    check="smoothing-loss",
    section=SMOOTH,
    sentence="the losses are added up and not averaged, so that a longer batch has a "
    "larger loss.",
)
def label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=0):
    smooth = smooth_targets(targets, logits.shape[-1], smoothing, pad_id)
    losses = -(smooth * torch.log_softmax(logits, dim=-1)).sum(dim=-1)
    return losses.sum()


@wrong(
    check="smoothing-loss",
    section=SMOOTH,
    sentence="the targets are shifted once more. They are already the tokens to be "
    "predicted, place for place.",
)
def label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=0):
    if targets.dim() > 1:
        logits, targets = logits[..., :-1, :], targets[..., 1:]
    smooth = smooth_targets(targets, logits.shape[-1], smoothing, pad_id)
    losses = -(smooth * torch.log_softmax(logits, dim=-1)).sum(dim=-1)
    return losses.sum() / (targets != pad_id).sum()


@wrong(
    check="smoothing-loss",
    section=SMOOTH,
    sentence="this is PyTorch's own label smoothing, in which the right token and the "
    "filling get a share as well.",
)
def label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=0):
    return F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.reshape(-1),
        ignore_index=pad_id,
        label_smoothing=smoothing,
    )


@wrong(
    check="smoothing-loss",
    section=SMOOTH,
    sentence="each sentence is averaged first, so that the tokens of a short sentence "
    "count more than those of a long one.",
)
def label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=0):
    smooth = smooth_targets(targets, logits.shape[-1], smoothing, pad_id)
    losses = -(smooth * torch.log_softmax(logits, dim=-1)).sum(dim=-1)
    real = (targets != pad_id).sum(dim=-1)
    return (losses.sum(dim=-1) / real).mean()


@wrong(
    check="smoothing-loss",
    section=SMOOTH,
    sentence="the sign is wrong: a good prediction must have a small loss.",
)
def label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=0):
    smooth = smooth_targets(targets, logits.shape[-1], smoothing, pad_id)
    losses = (smooth * torch.log_softmax(logits, dim=-1)).sum(dim=-1)
    return losses.sum() / (targets != pad_id).sum()


@wrong(
    check="smoothing-loss",
    section=SMOOTH,
    sentence="the average is taken over the vocabulary too: add up over the last axis.",
)
def label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=0):
    smooth = smooth_targets(targets, logits.shape[-1], smoothing, pad_id)
    losses = -(smooth * torch.log_softmax(logits, dim=-1)).mean(dim=-1)
    return losses.sum() / (targets != pad_id).sum()


@wrong(
    check="smoothing-loss",
    section=SMOOTH,
    sentence="this is the Kullback-Leibler divergence: the entropy of the targets has "
    "been taken away. The cross-entropy was asked for.",
)
def label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=0):
    smooth = smooth_targets(targets, logits.shape[-1], smoothing, pad_id)
    together = F.kl_div(torch.log_softmax(logits, dim=-1), smooth, reduction="sum")
    return together / (targets != pad_id).sum()


@wrong(
    check="smoothing-loss",
    section=SMOOTH,
    sentence="the sum is divided by the number of sentences. Divide by the number of "
    "real tokens.",
)
def label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=0):
    smooth = smooth_targets(targets, logits.shape[-1], smoothing, pad_id)
    losses = -(smooth * torch.log_softmax(logits, dim=-1)).sum(dim=-1)
    return losses.sum() / len(targets)


@wrong(
    check="smoothing-loss",
    section=SMOOTH,
    sentence="probabilities are compared, not their logarithms.",
)
def label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=0):
    smooth = smooth_targets(targets, logits.shape[-1], smoothing, pad_id)
    losses = -(smooth * torch.softmax(logits, dim=-1)).sum(dim=-1)
    return losses.sum() / (targets != pad_id).sum()


@wrong(
    check="smoothing-loss",
    section=SMOOTH,
    sentence="the targets are not smoothed.",
)
def label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=0):
    smooth = smooth_targets(targets, logits.shape[-1], 0.0, pad_id)
    losses = -(smooth * torch.log_softmax(logits, dim=-1)).sum(dim=-1)
    return losses.sum() / (targets != pad_id).sum()


@wrong(
    check="smoothing-loss",
    section=SMOOTH,
    sentence="the logarithm of a softmax overflows for large scores. Take "
    "torch.log_softmax, which does both in one step.",
)
def label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=0):
    smooth = smooth_targets(targets, logits.shape[-1], smoothing, pad_id)
    losses = -(smooth * torch.log(torch.softmax(logits, dim=-1))).sum(dim=-1)
    return losses.sum() / (targets != pad_id).sum()


@wrong(
    check="smoothing-loss",
    section=SMOOTH,
    sentence="filling is taken to be 0, whatever pad_id says.",
    seen="graded",
)
def label_smoothing_loss(logits, targets, smoothing=0.1, pad_id=0):
    pad_id = 0
    smooth = smooth_targets(targets, logits.shape[-1], smoothing, pad_id)
    losses = -(smooth * torch.log_softmax(logits, dim=-1)).sum(dim=-1)
    return losses.sum() / (targets != pad_id).sum()


@wrong(
    check="warmup-rate",
    section=RATE,
    sentence="the larger of the two is taken instead of the smaller: the rate begins "
    "high and grows without end.",
)
def warmup_rate(step, d_model, warmup=4000):
    if step < 1:
        raise ValueError(f"step is {step}; steps count from 1.")
    return d_model ** (-0.5) * max(step ** (-0.5), step * warmup ** (-1.5))


@wrong(
    check="warmup-rate",
    section=RATE,
    sentence="the rate grows with the width of the model. A wider model needs a "
    "smaller one: the exponent is -0.5.",
)
def warmup_rate(step, d_model, warmup=4000):
    if step < 1:
        raise ValueError(f"step is {step}; steps count from 1.")
    return d_model**0.5 * min(step ** (-0.5), step * warmup ** (-1.5))


@wrong(
    check="warmup-rate",
    section=RATE,
    sentence="the width of the model plays no part.",
)
def warmup_rate(step, d_model, warmup=4000):
    if step < 1:
        raise ValueError(f"step is {step}; steps count from 1.")
    return min(step ** (-0.5), step * warmup ** (-1.5))


@wrong(
    check="warmup-rate",
    section=RATE,
    sentence="after the warm-up the rate falls with the step itself. It falls with its "
    "root.",
)
def warmup_rate(step, d_model, warmup=4000):
    if step < 1:
        raise ValueError(f"step is {step}; steps count from 1.")
    return d_model ** (-0.5) * min(
        step ** (-1.0) * warmup**0.5, step * warmup ** (-1.5)
    )


@wrong(
    check="warmup-rate",
    section=RATE,
    sentence="the exponent of the warm-up is wrong: with -1.5 the two halves meet at "
    "the last step of it.",
)
def warmup_rate(step, d_model, warmup=4000):
    if step < 1:
        raise ValueError(f"step is {step}; steps count from 1.")
    return d_model ** (-0.5) * min(step ** (-0.5), step * warmup ** (-1.0))


@wrong(
    check="warmup-rate",
    section=RATE,
    sentence="after the warm-up the rate stays where it is. It must fall with the root "
    "of the step.",
)
def warmup_rate(step, d_model, warmup=4000):
    if step < 1:
        raise ValueError(f"step is {step}; steps count from 1.")
    return d_model ** (-0.5) * min(warmup ** (-0.5), step * warmup ** (-1.5))


@wrong(
    check="warmup-rate",
    section=RATE,
    sentence="there is no warm-up: the rate falls from the first step.",
)
def warmup_rate(step, d_model, warmup=4000):
    if step < 1:
        raise ValueError(f"step is {step}; steps count from 1.")
    return d_model ** (-0.5) * step ** (-0.5)


@wrong(
    check="warmup-rate",
    section=RATE,
    sentence="a step before the first is accepted. Steps count from 1; raise a "
    "ValueError.",
)
def warmup_rate(step, d_model, warmup=4000):
    step = max(step, 1)
    return d_model ** (-0.5) * min(step ** (-0.5), step * warmup ** (-1.5))


@wrong(
    check="warmup-rate",
    section=RATE,
    sentence="steps are counted from 0, so that everything comes one step late.",
)
def warmup_rate(step, d_model, warmup=4000):
    if step < 1:
        raise ValueError(f"step is {step}; steps count from 1.")
    return d_model ** (-0.5) * min((step + 1) ** (-0.5), (step + 1) * warmup ** (-1.5))


@wrong(
    check="warmup-rate",
    section=RATE,
    sentence="only step 0 is refused. No step before the first makes sense.",
    seen="graded",
)
def warmup_rate(step, d_model, warmup=4000):
    if step == 0:
        raise ValueError(f"step is {step}; steps count from 1.")
    return d_model ** (-0.5) * min(step ** (-0.5), step * warmup ** (-1.5))


@wrong(
    check="translate",
    section=WRITE,
    sentence="the source is read again for every token. Encode it once, before the "
    "loop, and keep the memory.",
)
def translate(model, source, begin_id, end_id, max_len):
    was_training = model.training
    model.eval()
    target = torch.full((len(source), 1), begin_id, device=source.device)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    for _ in range(max_len):
        following = model(source, target)[:, -1].argmax(dim=-1)
        following = following.masked_fill(ended, model.pad_id)
        target = torch.cat([target, following[:, None]], dim=1)
        ended = ended | (following == end_id)
        if ended.all():
            break
    model.train(was_training)
    return target[:, 1:]


@wrong(
    check="translate",
    section=WRITE,
    sentence="the mode is set on the model alone: its layers stay in eval mode, and "
    "dropout is off from now on. model.train(mode) sets it on all of them.",
)
def translate(model, source, begin_id, end_id, max_len):
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
    model.training = was_training
    return target[:, 1:]


@wrong(
    check="translate",
    section=WRITE,
    sentence="the mode is given back only when all sentences have ended, and not after "
    "max_len tokens.",
)
def translate(model, source, begin_id, end_id, max_len):
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
            model.train(was_training)
            break
    return target[:, 1:]


@wrong(
    check="translate",
    section=WRITE,
    sentence="gradients are switched off for all that follows. Use "
    "torch.no_grad, which ends with its block.",
)
def translate(model, source, begin_id, end_id, max_len):
    was_training = model.training
    model.eval()
    torch.set_grad_enabled(False)
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


@wrong(
    check="translate",
    section=WRITE,
    sentence="the parameters are frozen and stay so: the model cannot be trained any "
    "more.",
)
def translate(model, source, begin_id, end_id, max_len):
    was_training = model.training
    model.eval()
    model.requires_grad_(False)
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


@wrong(
    check="translate",
    section=WRITE,
    sentence="the beginning is never written, even where it is the likeliest. Take the "
    "likeliest token, whatever it is.",
)
def translate(model, source, begin_id, end_id, max_len):
    was_training = model.training
    model.eval()
    memory = model.encode(source)
    target = torch.full((len(source), 1), begin_id, device=source.device)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    for _ in range(max_len):
        scores = model.decode(target, memory, source)[:, -1].clone()
        scores[:, begin_id] = -torch.inf
        following = scores.argmax(dim=-1)
        following = following.masked_fill(ended, model.pad_id)
        target = torch.cat([target, following[:, None]], dim=1)
        ended = ended | (following == end_id)
        if ended.all():
            break
    model.train(was_training)
    return target[:, 1:]


@wrong(
    check="translate",
    section=WRITE,
    sentence="filling is never written, even where it is the likeliest. Take the "
    "likeliest token, whatever it is.",
)
def translate(model, source, begin_id, end_id, max_len):
    was_training = model.training
    model.eval()
    memory = model.encode(source)
    target = torch.full((len(source), 1), begin_id, device=source.device)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    for _ in range(max_len):
        scores = model.decode(target, memory, source)[:, -1].clone()
        scores[:, model.pad_id] = -torch.inf
        following = scores.argmax(dim=-1)
        following = following.masked_fill(ended, model.pad_id)
        target = torch.cat([target, following[:, None]], dim=1)
        ended = ended | (following == end_id)
        if ended.all():
            break
    model.train(was_training)
    return target[:, 1:]


@wrong(
    check="translate",
    section=WRITE,
    sentence="dropout is still on while the model translates. Put it into eval mode "
    "first.",
)
def translate(model, source, begin_id, end_id, max_len):
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
    return target[:, 1:]


@wrong(
    check="translate",
    section=WRITE,
    sentence="the model is left in eval mode, and training would go on without "
    "dropout. Put it back into the mode in which it came.",
)
def translate(model, source, begin_id, end_id, max_len):
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
    return target[:, 1:]


@wrong(
    check="translate",
    section=WRITE,
    sentence="the model is put into training mode at the end, although it may have "
    "come in eval mode. Remember the mode, and restore it.",
)
def translate(model, source, begin_id, end_id, max_len):
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
    model.train()
    return target[:, 1:]


@wrong(
    check="translate",
    section=WRITE,
    sentence="the beginning is part of the result. Leave it out.",
)
def translate(model, source, begin_id, end_id, max_len):
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
    return target


@wrong(
    check="translate",
    section=WRITE,
    sentence="a sentence that has ended goes on writing. After its end it gets filling "
    "only.",
)
def translate(model, source, begin_id, end_id, max_len):
    was_training = model.training
    model.eval()
    memory = model.encode(source)
    target = torch.full((len(source), 1), begin_id, device=source.device)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    for _ in range(max_len):
        following = model.decode(target, memory, source)[:, -1].argmax(dim=-1)
        target = torch.cat([target, following[:, None]], dim=1)
        ended = ended | (following == end_id)
        if ended.all():
            break
    model.train(was_training)
    return target[:, 1:]


@wrong(
    check="translate",
    section=WRITE,
    sentence="the scores of the first place are used. The next token is predicted at "
    "the last place.",
)
def translate(model, source, begin_id, end_id, max_len):
    was_training = model.training
    model.eval()
    memory = model.encode(source)
    target = torch.full((len(source), 1), begin_id, device=source.device)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    for _ in range(max_len):
        following = model.decode(target, memory, source)[:, 0].argmax(dim=-1)
        following = following.masked_fill(ended, model.pad_id)
        target = torch.cat([target, following[:, None]], dim=1)
        ended = ended | (following == end_id)
        if ended.all():
            break
    model.train(was_training)
    return target[:, 1:]


@wrong(
    check="translate",
    section=WRITE,
    sentence="it never stops before max_len, although every sentence has ended.",
)
def translate(model, source, begin_id, end_id, max_len):
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
    model.train(was_training)
    return target[:, 1:]


@wrong(
    check="translate",
    section=WRITE,
    sentence="it stops as soon as one sentence has ended. The others have not.",
)
def translate(model, source, begin_id, end_id, max_len):
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
        if ended.any():
            break
    model.train(was_training)
    return target[:, 1:]


@wrong(
    check="translate",
    section=WRITE,
    sentence="the least likely token is taken.",
)
def translate(model, source, begin_id, end_id, max_len):
    was_training = model.training
    model.eval()
    memory = model.encode(source)
    target = torch.full((len(source), 1), begin_id, device=source.device)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    for _ in range(max_len):
        following = model.decode(target, memory, source)[:, -1].argmin(dim=-1)
        following = following.masked_fill(ended, model.pad_id)
        target = torch.cat([target, following[:, None]], dim=1)
        ended = ended | (following == end_id)
        if ended.all():
            break
    model.train(was_training)
    return target[:, 1:]


@wrong(
    check="translate",
    section=WRITE,
    sentence="one token too few is written.",
)
def translate(model, source, begin_id, end_id, max_len):
    was_training = model.training
    model.eval()
    memory = model.encode(source)
    target = torch.full((len(source), 1), begin_id, device=source.device)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    for _ in range(max_len - 1):
        following = model.decode(target, memory, source)[:, -1].argmax(dim=-1)
        following = following.masked_fill(ended, model.pad_id)
        target = torch.cat([target, following[:, None]], dim=1)
        ended = ended | (following == end_id)
        if ended.all():
            break
    model.train(was_training)
    return target[:, 1:]


@wrong(
    check="translate",
    section=WRITE,
    sentence="one token too many is written.",
)
def translate(model, source, begin_id, end_id, max_len):
    was_training = model.training
    model.eval()
    memory = model.encode(source)
    target = torch.full((len(source), 1), begin_id, device=source.device)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    for _ in range(max_len + 1):
        following = model.decode(target, memory, source)[:, -1].argmax(dim=-1)
        following = following.masked_fill(ended, model.pad_id)
        target = torch.cat([target, following[:, None]], dim=1)
        ended = ended | (following == end_id)
        if ended.all():
            break
    model.train(was_training)
    return target[:, 1:]


@wrong(
    check="translate",
    section=WRITE,
    sentence="ended sentences are filled up with the end instead of with filling.",
)
def translate(model, source, begin_id, end_id, max_len):
    was_training = model.training
    model.eval()
    memory = model.encode(source)
    target = torch.full((len(source), 1), begin_id, device=source.device)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    for _ in range(max_len):
        following = model.decode(target, memory, source)[:, -1].argmax(dim=-1)
        following = following.masked_fill(ended, end_id)
        target = torch.cat([target, following[:, None]], dim=1)
        ended = ended | (following == end_id)
        if ended.all():
            break
    model.train(was_training)
    return target[:, 1:]


@wrong(
    check="translate",
    section=WRITE,
    sentence="the target begins with the first token of the source, not with the "
    "beginning.",
)
def translate(model, source, begin_id, end_id, max_len):
    was_training = model.training
    model.eval()
    memory = model.encode(source)
    target = source[:, :1]
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


@wrong(
    check="translate",
    section=WRITE,
    sentence="the end is not part of the result. It is a token that the model has "
    "written.",
)
def translate(model, source, begin_id, end_id, max_len):
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
    return target[:, 1:].masked_fill(target[:, 1:] == end_id, model.pad_id)


@wrong(
    check="translate",
    section=WRITE,
    sentence="the decoder is given the last token alone. It needs all that has been "
    "written so far.",
)
def translate(model, source, begin_id, end_id, max_len):
    was_training = model.training
    model.eval()
    memory = model.encode(source)
    target = torch.full((len(source), 1), begin_id, device=source.device)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    for _ in range(max_len):
        following = model.decode(target[:, -1:], memory, source)[:, -1].argmax(dim=-1)
        following = following.masked_fill(ended, model.pad_id)
        target = torch.cat([target, following[:, None]], dim=1)
        ended = ended | (following == end_id)
        if ended.all():
            break
    model.train(was_training)
    return target[:, 1:]


@wrong(
    check="translate",
    section=WRITE,
    sentence="the source is read backwards, or in another order. Give it to encode as "
    "it is.",
)
def translate(model, source, begin_id, end_id, max_len):
    was_training = model.training
    model.eval()
    memory = model.encode(source.flip(1))
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


@wrong(
    check="translate",
    section=WRITE,
    sentence="filling is taken to be 0, whatever the model's pad_id is.",
    seen="graded",
)
def translate(model, source, begin_id, end_id, max_len):
    was_training = model.training
    model.eval()
    memory = model.encode(source)
    target = torch.full((len(source), 1), begin_id, device=source.device)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    for _ in range(max_len):
        following = model.decode(target, memory, source)[:, -1].argmax(dim=-1)
        following = following.masked_fill(ended, 0)
        target = torch.cat([target, following[:, None]], dim=1)
        ended = ended | (following == end_id)
        if ended.all():
            break
    model.train(was_training)
    return target[:, 1:]


wrong_choice(
    "memory_enters",
    check="concept-memory",
    section=DECODER,
    a="the memory is never added to the target, and all layers look at it.",
    b="the decoder's self-attention never sees the encoder. Queries, keys and values "
    "all come from the target there.",
    d="the queries come from the target: it is the target that looks. The memory gives "
    "keys and values.",
)
wrong_choice(
    "no_copy",
    check="concept-copy",
    section=CONTROLS,
    a="dropout hides a tenth of the numbers, at random. It would not hide an answer.",
    c="the order of the target is what is to be learned; nothing is shuffled.",
    d="a model that copies has a low loss and has learned nothing: when it translates, "
    "there is nothing to copy.",
)
wrong_choice(
    "loss_floor",
    check="concept-floor",
    section=SMOOTH,
    b="the translations are right, so training has worked. The floor is the entropy of "
    "the smoothed targets.",
    c="a larger model has the same floor: it is the entropy of the smoothed targets.",
    d="counting the filling would make the loss smaller, not hold it up.",
)
wrong_choice(
    "one_by_one",
    check="concept-parallel",
    section=WRITE,
    a="the mask is the same in both. Without it the model would be another function "
    "than the one that was trained.",
    b="each token depends on those before it, and they are not there yet.",
    c="the encoder works once for each sentence, in training and in translation.",
)
