"""Wrong answers that learners really give in chapter 03, each with its explanation.

``check`` is the check that must catch the answer; ``sentence`` is what the learner is
told; ``section`` is the heading of chapter 03 that explains it.
"""

import torch
from torch import nn

from exercises.answers import wrong, wrong_choice
from solutions.multi_head import head_width, merge_heads, share_heads, split_heads
from solutions.self_attention import attention

WHY = "One average cannot hold two answers"
SPLIT = "Cut every vector, and turn the axes"
MERGE = "Back together"
LAYER = "The layer"
COST = "What it costs"
ROLES = "Who tells the heads what to do?"
REMOVE = "Which heads are needed?"
SHARE = "Sharing keys and values"
ATTEND = "What every head does"


@wrong(
    check="head-width",
    section=SPLIT,
    sentence="a width that cannot be shared evenly is rounded down, and the last "
    "numbers of every token are lost without a word. Raise a ValueError.",
)
def head_width(d_model, num_heads):
    return d_model // num_heads


@wrong(
    check="head-width",
    section=SPLIT,
    sentence="the width comes back as a float, such as 64.0. A size must be a whole "
    "number: divide with //.",
    seen="graded",
)
def head_width(d_model, num_heads):
    if d_model % num_heads:
        raise ValueError("not a multiple")
    return d_model / num_heads


@wrong(
    check="head-width",
    section=SPLIT,
    sentence="every head gets the whole width. The width is shared: h heads have "
    "d_model numbers together.",
)
def head_width(d_model, num_heads):
    if d_model % num_heads:
        raise ValueError("not a multiple")
    return d_model


@wrong(
    check="split-heads",
    section=SPLIT,
    sentence="the heads are made by one reshape. The shape fits and the numbers are "
    "wrong: the first head gets the first tokens instead of the first numbers of each "
    "token. Cut the last axis, then exchange two axes.",
)
def split_heads(x, num_heads):
    batch, seq, d_model = x.shape
    if d_model % num_heads:
        raise ValueError("not a multiple")
    return x.reshape(batch, num_heads, seq, d_model // num_heads)


@wrong(
    check="split-heads",
    section=SPLIT,
    sentence="the axis of the heads still stands behind the tokens: "
    "(batch, seq, heads, d_head). Exchange the two, or each token would attend to "
    "its own heads instead of to the other tokens.",
)
def split_heads(x, num_heads):
    batch, seq, d_model = x.shape
    if d_model % num_heads:
        raise ValueError("not a multiple")
    return x.reshape(batch, seq, num_heads, d_model // num_heads)


@wrong(
    check="split-heads",
    section=SPLIT,
    sentence="every head takes each h-th number of the vector. Head 0 gets the first "
    "d_head numbers, in a row: cut the last axis into (heads, d_head), in this order.",
)
def split_heads(x, num_heads):
    batch, seq, d_model = x.shape
    if d_model % num_heads:
        raise ValueError("not a multiple")
    cut = x.reshape(batch, seq, d_model // num_heads, num_heads)
    return cut.permute(0, 3, 1, 2)


@wrong(
    check="split-heads",
    section=SPLIT,
    sentence="the last two axes are exchanged as well: (batch, heads, d_head, seq). "
    "Each head must hold its tokens as rows.",
)
def split_heads(x, num_heads):
    batch, seq, d_model = x.shape
    if d_model % num_heads:
        raise ValueError("not a multiple")
    return x.reshape(batch, seq, num_heads, d_model // num_heads).permute(0, 2, 3, 1)


@wrong(
    check="split-heads",
    section=SPLIT,
    sentence="the heads stand in front of the batch. The batch stays the first axis: "
    "(batch, heads, seq, d_head).",
)
def split_heads(x, num_heads):
    batch, seq, d_model = x.shape
    if d_model % num_heads:
        raise ValueError("not a multiple")
    return x.reshape(batch, seq, num_heads, d_model // num_heads).permute(2, 0, 1, 3)


@wrong(
    check="split-heads",
    section=SPLIT,
    sentence="batch and heads are folded into one axis. Keep them apart: "
    "(batch, heads, seq, d_head), so that a mask can be meant for one sentence.",
)
def split_heads(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError("not a multiple")
    return torch.cat(x.tensor_split(num_heads, dim=-1), dim=0)


@wrong(
    check="split-heads",
    section=SPLIT,
    sentence="the number of heads is taken for the width of a head. There are "
    "num_heads heads, each d_model / num_heads wide.",
)
def split_heads(x, num_heads):
    batch, seq, d_model = x.shape
    if d_model % num_heads:
        raise ValueError("not a multiple")
    return x.reshape(batch, seq, d_model // num_heads, num_heads).transpose(1, 2)


@wrong(
    check="split-heads",
    section=SPLIT,
    sentence="a width that cannot be shared evenly is not refused: numbers are cut "
    "off, or an error comes that says nothing about heads. Raise a ValueError.",
)
def split_heads(x, num_heads):
    d_head = x.shape[-1] // num_heads
    kept = x[..., : num_heads * d_head]
    return kept.unflatten(-1, (num_heads, d_head)).transpose(1, 2)


@wrong(
    check="split-heads",
    section=SPLIT,
    sentence="`view` is used on the tokens. It refuses a tensor whose numbers do not "
    "lie in order in memory: use reshape, which copies when it must.",
    seen="graded",
)
def split_heads(x, num_heads):
    batch, seq, d_model = x.shape
    if d_model % num_heads:
        raise ValueError("not a multiple")
    flat = x.view(batch * seq, d_model)
    return flat.view(batch, seq, num_heads, d_model // num_heads).transpose(1, 2)


@wrong(
    check="merge-heads",
    section=MERGE,
    sentence="the heads are joined without turning the axes back first. The shape "
    "fits, and each row mixes several tokens of one head: transpose, then flatten.",
)
def merge_heads(x):
    batch, heads, seq, d_head = x.shape
    return x.reshape(batch, seq, heads * d_head)


@wrong(
    check="merge-heads",
    section=MERGE,
    sentence="the heads are added up. Put them side by side: a sum blends what they "
    "found, which is what several heads are there to avoid.",
)
def merge_heads(x):
    return x.sum(dim=1)


@wrong(
    check="merge-heads",
    section=MERGE,
    sentence="the heads are averaged. Put them side by side: an average blends what "
    "they found, which is what several heads are there to avoid.",
)
def merge_heads(x):
    return x.mean(dim=1)


@wrong(
    check="merge-heads",
    section=MERGE,
    sentence="the heads are interleaved: the first number of each, then the second of "
    "each. Each head's numbers stay together.",
)
def merge_heads(x):
    return x.permute(0, 2, 3, 1).flatten(2)


@wrong(
    check="merge-heads",
    section=MERGE,
    sentence="the heads are joined along the tokens, one sentence behind the other. "
    "Join them along the last axis, so that each token has one long vector.",
)
def merge_heads(x):
    return x.flatten(1, 2)


@wrong(
    check="merge-heads",
    section=MERGE,
    sentence="`view` is called right after `transpose`, and fails: the numbers no "
    "longer lie in order. Use reshape or flatten, which copy when they must.",
)
def merge_heads(x):
    batch, heads, seq, d_head = x.shape
    return x.transpose(1, 2).view(batch, seq, heads * d_head)


@wrong(
    check="merge-heads",
    section=MERGE,
    sentence="the heads are joined in the wrong order, the last one first. Head 0 "
    "comes first, as it was cut.",
)
def merge_heads(x):
    return torch.cat(x.flip(1).unbind(dim=1), dim=-1)


@wrong(
    check="share-heads",
    section=SHARE,
    sentence="the heads are repeated as a row: 0, 1, 0, 1. Query heads that stand "
    "together share one: 0, 0, 1, 1. That is repeat_interleave.",
)
def share_heads(x, num_heads):
    if num_heads % x.shape[1]:
        raise ValueError("not a multiple")
    return x.repeat(1, num_heads // x.shape[1], 1, 1)


@wrong(
    check="share-heads",
    section=SHARE,
    sentence="the tokens are repeated, not the heads: the sentence has become longer. "
    "Repeat along the axis of the heads, dim=1.",
)
def share_heads(x, num_heads):
    if num_heads % x.shape[1]:
        raise ValueError("not a multiple")
    return x.repeat_interleave(num_heads // x.shape[1], dim=2)


@wrong(
    check="share-heads",
    section=SHARE,
    sentence="the sentences of the batch are repeated, not the heads. Repeat along "
    "the axis of the heads, dim=1.",
)
def share_heads(x, num_heads):
    if num_heads % x.shape[1]:
        raise ValueError("not a multiple")
    return x.repeat_interleave(num_heads // x.shape[1], dim=0)


@wrong(
    check="share-heads",
    section=SHARE,
    sentence="every head is repeated num_heads times. There are to be num_heads heads "
    "in all: repeat each of them num_heads / kv_heads times.",
)
def share_heads(x, num_heads):
    if num_heads % x.shape[1]:
        raise ValueError("not a multiple")
    return x.repeat_interleave(num_heads, dim=1)


@wrong(
    check="share-heads",
    section=SHARE,
    sentence="only the first key head is used, by all query heads. Each group has a "
    "key head of its own.",
)
def share_heads(x, num_heads):
    if num_heads % x.shape[1]:
        raise ValueError("not a multiple")
    return x[:, :1].expand(-1, num_heads, -1, -1)


@wrong(
    check="share-heads",
    section=SHARE,
    sentence="numbers of heads that do not go together are not refused. Raise a "
    "ValueError when num_heads is not a multiple of the heads there are.",
)
def share_heads(x, num_heads):
    return x.repeat_interleave(num_heads // x.shape[1], dim=1)


@wrong(
    check="multi-head",
    section=LAYER,
    sentence="what the heads found is not multiplied by W_o. Without that last matrix "
    "nothing from one head could meet anything from another.",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = d_model // num_heads * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = split_heads(self.W_k(x), self.num_kv_heads)
        values = split_heads(self.W_v(x), self.num_kv_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        return merge_heads(self.attend(queries, keys, values, **options))


@wrong(
    check="multi-head",
    section=LAYER,
    sentence="an activation follows the last matrix, and negative outputs are lost. "
    "W_o is a plain linear projection; the feed-forward layer of chapter 06 bends.",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = d_model // num_heads * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = split_heads(self.W_k(x), self.num_kv_heads)
        values = split_heads(self.W_v(x), self.num_kv_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = merge_heads(self.attend(queries, keys, values, **options))
        return torch.relu(self.W_o(found))


@wrong(
    check="multi-head",
    section=LAYER,
    sentence="the tokens are cut into heads before they are projected, so that a head "
    "sees only its slice of each token. Project the whole vector first, then cut.",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = d_model // num_heads * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        def sliced(layer, heads):
            weight = layer.weight.unflatten(0, (heads, -1))
            weight = weight.repeat_interleave(self.num_heads // heads, dim=0)
            weight = weight.unflatten(2, (self.num_heads, -1))
            own = torch.stack([weight[h, :, h] for h in range(self.num_heads)])
            return split_heads(x, self.num_heads) @ own.mT

        queries = sliced(self.W_q, self.num_heads)
        keys = sliced(self.W_k, self.num_kv_heads)
        values = sliced(self.W_v, self.num_kv_heads)
        found = merge_heads(self.attend(queries, keys, values, **options))
        return self.W_o(found)


@wrong(
    check="multi-head",
    section=LAYER,
    sentence="nothing is split: all of d_model attends as one head. Split queries, "
    "keys and values before they meet.",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        head_width(d_model, num_heads)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries, keys, values = self.W_q(x), self.W_k(x), self.W_v(x)
        return self.W_o(self.attend(queries, keys, values, **options))


@wrong(
    check="multi-head",
    section=LAYER,
    sentence="the heads are made by one reshape, which gives the first head the first "
    "tokens instead of the first numbers of each token. Use your split_heads.",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        batch, seq, _ = x.shape
        queries = self.W_q(x).reshape(batch, self.num_heads, seq, -1)
        keys = self.W_k(x).reshape(batch, self.num_kv_heads, seq, -1)
        values = self.W_v(x).reshape(batch, self.num_kv_heads, seq, -1)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        return self.W_o(merge_heads(self.attend(queries, keys, values, **options)))


@wrong(
    check="multi-head",
    section=LAYER,
    sentence="the heads are joined by a reshape alone. Turn the axes back first, or "
    "each row mixes several tokens: use your merge_heads.",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = split_heads(self.W_k(x), self.num_kv_heads)
        values = split_heads(self.W_v(x), self.num_kv_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = self.attend(queries, keys, values, **options)
        return self.W_o(found.reshape(x.shape))


@wrong(
    check="multi-head",
    section=LAYER,
    sentence="the linear layers have a bias. Here they must not: write bias=False.",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_kv)
        self.W_v = nn.Linear(d_model, d_kv)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, **options):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = split_heads(self.W_k(x), self.num_kv_heads)
        values = split_heads(self.W_v(x), self.num_kv_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        return self.W_o(merge_heads(self.attend(queries, keys, values, **options)))


@wrong(
    check="multi-head",
    section=ATTEND,
    sentence="the scores are divided by the square root of d_head. Chapter 04 adds "
    "that; here the scores stay as they are.",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = split_heads(self.W_k(x), self.num_kv_heads)
        values = split_heads(self.W_v(x), self.num_kv_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        queries = queries / queries.shape[-1] ** 0.5
        return self.W_o(merge_heads(self.attend(queries, keys, values, **options)))


@wrong(
    check="multi-head",
    section=LAYER,
    sentence="the layer adds its input to its output. That is a residual connection, "
    "the subject of chapter 05; this layer gives what the heads found, alone.",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = split_heads(self.W_k(x), self.num_kv_heads)
        values = split_heads(self.W_v(x), self.num_kv_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = merge_heads(self.attend(queries, keys, values, **options))
        return x + self.W_o(found)


@wrong(
    check="multi-head",
    section=LAYER,
    sentence="the keys are made with W_q as well. Queries and keys have a matrix each.",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = queries[:, : self.num_kv_heads]
        values = split_heads(self.W_v(x), self.num_kv_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        return self.W_o(merge_heads(self.attend(queries, keys, values, **options)))


@wrong(
    check="multi-head",
    section=LAYER,
    sentence="the heads are averaged, and the average is copied to every head's place. "
    "Put what each head found side by side.",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = split_heads(self.W_k(x), self.num_kv_heads)
        values = split_heads(self.W_v(x), self.num_kv_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = self.attend(queries, keys, values, **options)
        found = found.mean(dim=1, keepdim=True).expand_as(found)
        return self.W_o(merge_heads(found))


@wrong(
    check="multi-head",
    section=LAYER,
    sentence="the weights of all heads are averaged before they meet the values, so "
    "that all heads look at the same places. Each head uses its own weights.",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = split_heads(self.W_k(x), self.num_kv_heads)
        values = split_heads(self.W_v(x), self.num_kv_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        weights = torch.softmax(queries @ keys.mT, dim=-1).mean(dim=1, keepdim=True)
        return self.W_o(merge_heads(weights @ values))


@wrong(
    check="multi-head",
    section=LAYER,
    sentence="a width that the heads cannot share is not refused. Raise a ValueError, "
    "as head_width does.",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_head = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_head * num_heads, bias=False)
        self.W_k = nn.Linear(d_model, d_head * self.num_kv_heads, bias=False)
        self.W_v = nn.Linear(d_model, d_head * self.num_kv_heads, bias=False)
        self.W_o = nn.Linear(d_head * num_heads, d_model, bias=False)

    def forward(self, x, **options):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = split_heads(self.W_k(x), self.num_kv_heads)
        values = split_heads(self.W_v(x), self.num_kv_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        return self.W_o(merge_heads(self.attend(queries, keys, values, **options)))


@wrong(
    check="multi-head",
    section=LAYER,
    sentence="some matrices can never learn: they are used through .data or a copy, "
    "need no gradient, or are not used at all.",
    seen="graded",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = split_heads(self.W_k(x), self.num_kv_heads)
        values = split_heads(self.W_v(x), self.num_kv_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = merge_heads(self.attend(queries, keys, values, **options))
        return found @ self.W_o.weight.data.T


@wrong(
    check="grouped-query",
    section=SHARE,
    sentence="num_kv_heads is ignored: every query head has keys and values of its "
    "own. W_k and W_v must be narrower, num_kv_heads * d_head.",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        head_width(d_model, num_heads)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        layers = self.W_q, self.W_k, self.W_v
        heads = [split_heads(layer(x), self.num_heads) for layer in layers]
        return self.W_o(merge_heads(self.attend(*heads, **options)))


@wrong(
    check="grouped-query",
    section=SHARE,
    sentence="the key heads are repeated as a row: 0, 1, 0, 1. Query heads that stand "
    "together share one: 0, 0, 1, 1. Use your share_heads.",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = split_heads(self.W_k(x), self.num_kv_heads)
        values = split_heads(self.W_v(x), self.num_kv_heads)
        times = self.num_heads // self.num_kv_heads
        keys, values = (t.repeat(1, times, 1, 1) for t in (keys, values))
        return self.W_o(merge_heads(self.attend(queries, keys, values, **options)))


@wrong(
    check="grouped-query",
    section=SHARE,
    sentence="the keys are shared, and the values are not: W_v is as wide as before. "
    "Query heads share both.",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(split_heads(self.W_k(x), self.num_kv_heads), self.num_heads)
        values = split_heads(self.W_v(x), self.num_heads)
        return self.W_o(merge_heads(self.attend(queries, keys, values, **options)))


@wrong(
    check="attend",
    section=ATTEND,
    sentence="the layer calls the attention of chapter 01, whatever `attend` it was "
    "given, and that one knows no temperature. Keep what was given, and call it.",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = split_heads(self.W_k(x), self.num_kv_heads)
        values = split_heads(self.W_v(x), self.num_kv_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = attention(queries, keys, values, **options)
        return self.W_o(merge_heads(found))


@wrong(
    check="attend",
    section=ATTEND,
    sentence="the options of the call, here the temperature, do not reach the `attend` "
    "that was given. Call it, and hand them on: "
    "self.attend(queries, keys, values, **options).",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, **options):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = split_heads(self.W_k(x), self.num_kv_heads)
        values = split_heads(self.W_v(x), self.num_kv_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        return self.W_o(merge_heads(self.attend(queries, keys, values)))


@wrong(
    check="attend",
    section=ATTEND,
    sentence="the temperature is the layer's own business here, whatever `attend` it "
    "was given. Which options there are is for `attend` to say: hand all of them on.",
    seen="graded",
)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads=None, attend=attention):
        super().__init__()
        self.num_heads, self.attend = num_heads, attend
        self.num_kv_heads = num_kv_heads or num_heads
        d_kv = head_width(d_model, num_heads) * self.num_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_kv, bias=False)
        self.W_v = nn.Linear(d_model, d_kv, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, temperature=1.0):
        queries = split_heads(self.W_q(x), self.num_heads) / temperature
        keys = split_heads(self.W_k(x), self.num_kv_heads)
        values = split_heads(self.W_v(x), self.num_kv_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        return self.W_o(merge_heads(attention(queries, keys, values)))


@wrong(
    check="attend",
    section=ATTEND,
    sentence="the scores are multiplied by the temperature. They are divided by it: a "
    "high temperature makes the weights more equal.",
)
def attention_at(queries, keys, values, temperature=1.0):
    return attention(queries * temperature, keys, values)


@wrong(
    check="attend",
    section=ATTEND,
    sentence="queries and keys are both divided by the temperature, so that the scores "
    "are divided by its square. Divide once.",
)
def attention_at(queries, keys, values, temperature=1.0):
    return attention(queries / temperature, keys / temperature, values)


@wrong(
    check="attend",
    section=ATTEND,
    sentence="the weights are divided by the temperature, after the softmax. They no "
    "longer add up to one: divide the scores, before it.",
)
def attention_at(queries, keys, values, temperature=1.0):
    return attention(queries, keys, values) / temperature


@wrong(
    check="attend",
    section=ATTEND,
    sentence="the temperature is not used. Divide the scores by it before the softmax.",
)
def attention_at(queries, keys, values, temperature=1.0):
    return attention(queries, keys, values)


@wrong(
    check="attention-flops",
    section=COST,
    sentence="every head is counted at full width, so that more heads seem to cost "
    "more. A head is only d_model / num_heads wide.",
)
def attention_flops(seq, d_model, num_heads):
    head_width(d_model, num_heads)
    return 8 * seq * d_model**2 + num_heads * 4 * seq**2 * d_model


@wrong(
    check="attention-flops",
    section=COST,
    sentence="only one head is counted. There are num_heads of them.",
)
def attention_flops(seq, d_model, num_heads):
    d_head = head_width(d_model, num_heads)
    return 8 * seq * d_model**2 + 4 * seq**2 * d_head


@wrong(
    check="attention-flops",
    section=COST,
    sentence="multiplications are counted and additions are not: the count is half of "
    "what it should be. A product takes 2mnp operations.",
)
def attention_flops(seq, d_model, num_heads):
    head_width(d_model, num_heads)
    return 4 * seq * d_model**2 + 2 * seq**2 * d_model


@wrong(
    check="attention-flops",
    section=COST,
    sentence="three projections are counted. There is a fourth: W_o.",
)
def attention_flops(seq, d_model, num_heads):
    head_width(d_model, num_heads)
    return 6 * seq * d_model**2 + 4 * seq**2 * d_model


@wrong(
    check="attention-flops",
    section=COST,
    sentence="the scores are counted, and the weighted sums of the values are not.",
)
def attention_flops(seq, d_model, num_heads):
    head_width(d_model, num_heads)
    return 8 * seq * d_model**2 + 2 * seq**2 * d_model


@wrong(
    check="attention-flops",
    section=COST,
    sentence="the projections are counted once for each head at full width. All heads "
    "together share one matrix of d_model by d_model.",
)
def attention_flops(seq, d_model, num_heads):
    head_width(d_model, num_heads)
    return num_heads * 8 * seq * d_model**2 + 4 * seq**2 * d_model


@wrong(
    check="attention-flops",
    section=COST,
    sentence="the projections are not counted. There are four of them, and for short "
    "sentences they are most of the work.",
)
def attention_flops(seq, d_model, num_heads):
    head_width(d_model, num_heads)
    return 4 * seq**2 * d_model


@wrong(
    check="attention-flops",
    section=COST,
    sentence="heads that do not divide the width are not refused. Raise a ValueError, "
    "as head_width does.",
    seen="graded",
)
def attention_flops(seq, d_model, num_heads):
    return 8 * seq * d_model**2 + 4 * seq**2 * d_model


@wrong(
    check="without-head",
    section=REMOVE,
    sentence="the rows of a head are made zero. In the weight of a linear layer, "
    "(d_out, d_in), what comes from a head are columns.",
)
def without_head(layer, head):
    weight = layer.W_o.weight.detach().clone()
    d_head = weight.shape[1] // layer.num_heads
    weight[head * d_head : (head + 1) * d_head] = 0
    return weight


@wrong(
    check="without-head",
    section=REMOVE,
    sentence="the weight of the layer itself is changed: .detach() and .data share "
    "its memory. Make a copy with .clone() first.",
)
def without_head(layer, head):
    weight = layer.W_o.weight.detach()
    d_head = weight.shape[1] // layer.num_heads
    weight[:, head * d_head : (head + 1) * d_head] = 0
    return weight


@wrong(
    check="without-head",
    section=REMOVE,
    sentence="one column is made zero. A head has d_head columns.",
)
def without_head(layer, head):
    weight = layer.W_o.weight.detach().clone()
    weight[:, head] = 0
    return weight


@wrong(
    check="without-head",
    section=REMOVE,
    sentence="all other heads are made silent, and only this one is kept. It should be "
    "the other way round.",
)
def without_head(layer, head):
    weight = layer.W_o.weight.detach().clone()
    d_head = weight.shape[1] // layer.num_heads
    kept = torch.zeros_like(weight)
    columns = slice(head * d_head, (head + 1) * d_head)
    kept[:, columns] = weight[:, columns]
    return kept


@wrong(
    check="without-head",
    section=REMOVE,
    sentence="the columns are cut out, and the matrix is narrower. Keep its shape, and "
    "make the columns zero.",
)
def without_head(layer, head):
    weight = layer.W_o.weight.detach().clone()
    pieces = list(weight.tensor_split(layer.num_heads, dim=1))
    del pieces[head]
    return torch.cat(pieces, dim=1)


@wrong(
    check="without-head",
    section=REMOVE,
    sentence="the heads are counted from 1. Head 0 is the first, with the first d_head "
    "columns.",
)
def without_head(layer, head):
    weight = layer.W_o.weight.detach().clone()
    d_head = weight.shape[1] // layer.num_heads
    weight[:, (head - 1) * d_head : head * d_head] = 0
    return weight


@wrong(
    check="without-head",
    section=REMOVE,
    sentence="the result is turned round, as in x @ W. It was to have the layout of "
    "layer.W_o.weight, (d_out, d_in).",
)
def without_head(layer, head):
    weight = layer.W_o.weight.detach().clone().T
    d_head = weight.shape[0] // layer.num_heads
    weight[head * d_head : (head + 1) * d_head] = 0
    return weight


@wrong(
    check="without-head",
    section=REMOVE,
    sentence="every h-th column is made zero. The columns of a head stand in a row, as "
    "split_heads cut them.",
)
def without_head(layer, head):
    weight = layer.W_o.weight.detach().clone()
    weight[:, head :: layer.num_heads] = 0
    return weight


wrong_choice(
    "purpose",
    check="concept-purpose",
    section=WHY,
    a="heads run side by side, but that is not what they are for: they cost the same.",
    c="a softmax runs over the tokens. The length of a vector does not matter to it.",
    d="heads are put side by side, not averaged. An average is what they avoid.",
)
wrong_choice(
    "budget",
    check="concept-width",
    section=COST,
    a="heads of any width could be joined; W_o would only have another shape.",
    b="64 is what the paper uses. There are models with 32, 80 and 128.",
    c="the tokens are projected whole. Only the results of the projection are cut.",
)
wrong_choice(
    "roles",
    check="concept-roles",
    section=ROLES,
    b="there is no such term. The loss knows nothing about heads.",
    c="nobody gives out roles. What a head does is found afterwards, by looking.",
    d="every head sees all tokens of the sentence.",
)
wrong_choice(
    "score_count",
    check="concept-scores",
    section=COST,
    a="that is one head. Each of the 8 has a score matrix of its own.",
    b="rows and columns of a score matrix are both tokens: 12 by 12, for each head.",
    d="the width does not stay in the scores: it is summed up in the dot product.",
)
wrong_choice(
    "multi_query",
    check="concept-multi-query",
    section=SHARE,
    a="it is the other way round: the queries stay many, the keys and values are one.",
    c="keys and values are both shared: they are kept together in the cache.",
    d="that is a layer of one head. The queries stay many.",
)
