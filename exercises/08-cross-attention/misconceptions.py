"""Wrong answers that learners really give in chapter 08, each with its explanation."""

import torch
import torch.nn.functional as F

from exercises.answers import wrong, wrong_choice
from solutions.masking import masked_attention, masked_softmax
from solutions.multi_head import (
    MultiHeadAttention,
    merge_heads,
    share_heads,
    split_heads,
)
from solutions.scaling import scaled_scores

LOOK = "Queries from here, keys and values from there"
LENGTHS = "Two lengths"
SOURCE = "The source decides, its filling does not"
MASK = "Which mask belongs here"
ONCE = "Read once, ask many times"
ALIGN = "What a trained translator looks at"


@wrong(
    check="cross-weights",
    section=LOOK,
    sentence="the scores are not scaled: divide them by the root of d_k. scaled_scores "
    "does it.",
)
def cross_attention_weights(queries, keys, mask=None):
    return masked_softmax(queries @ keys.mT, mask)


@wrong(
    check="cross-weights",
    section=LOOK,
    sentence="the scores are scaled twice. scaled_scores has already divided by the "
    "root of d_k.",
)
def cross_attention_weights(queries, keys, mask=None):
    scores = scaled_scores(queries, keys) / queries.shape[-1] ** 0.5
    return masked_softmax(scores, mask)


@wrong(
    check="cross-weights",
    section=LENGTHS,
    sentence="rows and columns are exchanged: there is one row for each target token "
    "and one column for each source token.",
)
def cross_attention_weights(queries, keys, mask=None):
    return masked_softmax(scaled_scores(keys, queries), None)


@wrong(
    check="cross-weights",
    section=LENGTHS,
    sentence="the softmax runs over the target tokens. Each target token shares its "
    "attention among the source tokens: the last axis.",
)
def cross_attention_weights(queries, keys, mask=None):
    scores = scaled_scores(queries, keys)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return torch.softmax(scores, dim=-2)


@wrong(
    check="cross-weights",
    section=SOURCE,
    sentence="the mask is not used, so filling of the source is looked at.",
)
def cross_attention_weights(queries, keys, mask=None):
    return torch.softmax(scaled_scores(queries, keys), dim=-1)


@wrong(
    check="cross-weights",
    section=SOURCE,
    sentence="the mask is read the wrong way round. True means may attend: filling is "
    "False.",
)
def cross_attention_weights(queries, keys, mask=None):
    if mask is not None:
        mask = ~mask
    return masked_softmax(scaled_scores(queries, keys), mask)


@wrong(
    check="cross-weights",
    section=MASK,
    sentence="a causal mask is put on top. The source is there as a whole before the "
    "first target token: all of it may be seen.",
)
def cross_attention_weights(queries, keys, mask=None):
    causal = torch.ones(queries.shape[-2], keys.shape[-2]).tril().bool()
    causal = causal.to(queries.device)
    mask = causal if mask is None else mask & causal
    return masked_softmax(scaled_scores(queries, keys), mask)


@wrong(
    check="cross-weights",
    section=SOURCE,
    sentence="the weights are masked after the softmax, so what is left of a row does "
    "not sum to one. Use masked_softmax.",
)
def cross_attention_weights(queries, keys, mask=None):
    weights = torch.softmax(scaled_scores(queries, keys), dim=-1)
    return weights if mask is None else weights * mask


@wrong(
    check="cross-weights",
    section=SOURCE,
    sentence="a row that may see nothing becomes NaN. masked_softmax of chapter 07 "
    "gives zeros there.",
)
def cross_attention_weights(queries, keys, mask=None):
    scores = scaled_scores(queries, keys)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, dim=-1)


@wrong(
    check="cross-weights",
    section=LOOK,
    sentence="these are the scores. The softmax still has to turn them into weights.",
)
def cross_attention_weights(queries, keys, mask=None):
    return scaled_scores(queries, keys)


@wrong(
    check="cross-attention",
    section=SOURCE,
    sentence="keys and values are made from the target: the layer attends to itself "
    "once more and never sees the source. Read the memory.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(x)
        return self.look(x, keys, values)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention",
    section=LOOK,
    sentence="everything is turned round: queries come from the memory, keys and "
    "values from the target. The one that writes asks.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(x)
        return self.look(memory, keys, values)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention",
    section=LOOK,
    sentence="the values are made from the target, the keys from the memory. Both come "
    "from the memory.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, _ = self.read(memory)
        values = self.read(x)[1][..., : memory.shape[1], :]
        missing = memory.shape[1] - values.shape[2]
        values = F.pad(values, (0, 0, 0, missing))
        return self.look(x, keys, values, mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention",
    section=LENGTHS,
    sentence="W_o is left out: after the heads are joined, it mixes what they found.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        return merge_heads(masked_attention(queries, keys, values, mask))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention",
    section=LOOK,
    sentence="keys and values are exchanged: the keys are to be compared, the values "
    "handed over.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return split_heads(self.W_v(memory), self.num_kv_heads), keys

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention",
    section=LOOK,
    sentence="the values go through W_k as well. They have a matrix of their own, W_v.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, keys

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention",
    section=LOOK,
    sentence="the queries go through W_k. They have a matrix of their own, W_q.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_k(x), self.num_kv_heads)
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention",
    section=LENGTHS,
    sentence="the heads are made by reshape alone, so that numbers of different tokens "
    "end up in one head. The axis of heads has to be moved in front of the "
    "tokens.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        shape = len(memory), self.num_kv_heads, memory.shape[1], -1
        return self.W_k(memory).reshape(shape), self.W_v(memory).reshape(shape)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention",
    section=LENGTHS,
    sentence="the heads are joined without moving their axis back: transpose before "
    "you flatten, as merge_heads does.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(found.reshape(x.shape))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention",
    section=LENGTHS,
    sentence="the scores are divided by the root of d_model. Each head has its own, "
    "smaller width.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads) / self.num_heads**0.5
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention",
    section=LENGTHS,
    sentence="all heads are taken together as one: the vectors are not split.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        keys, values = merge_heads(keys), merge_heads(values)
        if mask is not None:
            mask = mask[:, 0]
        return self.W_o(masked_attention(self.W_q(x), keys, values, mask))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention",
    section=MASK,
    sentence="a causal mask is put on the source. The source is there as a whole: even "
    "the first target token may see its end.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        causal = torch.ones(x.shape[1], memory.shape[1]).tril().bool().to(x.device)
        return self.look(x, keys, values, causal if mask is None else mask & causal)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention",
    section=LENGTHS,
    sentence="the target is added to the output. That is the residual connection, "
    "which stands outside this layer.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return x + self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention",
    section=LENGTHS,
    sentence="the key and value heads are shared with `repeat`, so that query heads "
    "meet the wrong ones. share_heads keeps those that belong together side "
    "by side.",
    seen="graded",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        times = self.num_heads // keys.shape[1]
        keys, values = (t.repeat(1, times, 1, 1) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention-filling",
    section=SOURCE,
    sentence="the mask is not used, so filling of the source is looked at.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention-filling",
    section=SOURCE,
    sentence="the mask is read the wrong way round: filling is seen and the words are "
    "not.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, None if mask is None else ~mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention-filling",
    section=SOURCE,
    sentence="filling is set to zero in the memory. A key of zeros has a score of "
    "zero, which is an ordinary score: give the mask to the softmax.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        if mask is not None:
            memory = memory * mask[:, 0, 0, :, None]
        keys, values = self.read(memory)
        return self.look(x, keys, values)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention-filling",
    section=SOURCE,
    sentence="a source of nothing but filling gives NaN. masked_attention of chapter "
    "07 gives zeros.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        scores = scaled_scores(queries, keys)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        found = torch.softmax(scores, dim=-1) @ values
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention-read",
    section=ONCE,
    sentence="`read` gives keys and values that are not split into heads: (batch, "
    "num_kv_heads, source_len, d_head).",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        return self.W_k(memory), self.W_v(memory)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (split_heads(t, self.num_kv_heads) for t in (keys, values))
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = split_heads(self.read(memory)[0], self.num_kv_heads)
        keys = share_heads(keys, self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention-read",
    section=ONCE,
    sentence="`read` gives values first. The order is keys, values.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        values, keys = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        values = split_heads(self.W_v(memory), self.num_kv_heads)
        return values, split_heads(self.W_k(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[1], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention-read",
    section=ONCE,
    sentence="the layer keeps the keys and values of the last memory and uses those, "
    "whatever it is given. Another sentence in between, and the answer is "
    "about that one.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        values = split_heads(self.W_v(memory), self.num_kv_heads)
        self.kept = keys, values
        return keys, values

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in self.kept)
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention-read",
    section=ONCE,
    sentence="the heads of keys and values are already multiplied in `read`. Keep them "
    "few there; sharing them belongs to `look`.",
    seen="graded",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        values = split_heads(self.W_v(memory), self.num_kv_heads)
        return share_heads(keys, self.num_heads), share_heads(values, self.num_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="cross-attention-weights",
    section=ALIGN,
    sentence="the weights are averaged over the heads. Give those of each head; the "
    "average comes later.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys, mask).mean(dim=1)


@wrong(
    check="cross-attention-weights",
    section=SOURCE,
    sentence="the mask is not passed on, so the weights are not those that the layer "
    "uses.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(memory)[0], self.num_heads)
        return cross_attention_weights(queries, keys)


@wrong(
    check="cross-attention-weights",
    section=SOURCE,
    sentence="these are the weights of the target looking at itself. Make the keys "
    "from the memory.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys = share_heads(self.read(x)[0], self.num_heads)
        return cross_attention_weights(queries, keys)


@wrong(
    check="cross-attention-weights",
    section=LENGTHS,
    sentence="the vectors are not split into heads: there is one table where there "
    "should be one for each head.",
)
class CrossAttention(MultiHeadAttention):
    def forward(self, x, memory, mask=None):
        keys, values = self.read(memory)
        return self.look(x, keys, values, mask)

    def read(self, memory):
        keys = split_heads(self.W_k(memory), self.num_kv_heads)
        return keys, split_heads(self.W_v(memory), self.num_kv_heads)

    def look(self, x, keys, values, mask=None):
        queries = split_heads(self.W_q(x), self.num_heads)
        keys, values = (share_heads(t, self.num_heads) for t in (keys, values))
        found = masked_attention(queries, keys, values, mask)
        return self.W_o(merge_heads(found))

    def weights(self, x, memory, mask=None):
        queries, keys = self.W_q(x)[:, None], self.W_k(memory)[:, None]
        return cross_attention_weights(queries, keys, mask)


@wrong(
    check="alignment",
    section=ALIGN,
    sentence="the target token is named that looks most at each source token. Take the "
    "largest along the last axis: for each target token, a source token.",
)
def alignment(weights):
    return weights.mean(dim=1).argmax(dim=-2)


@wrong(
    check="alignment",
    section=ALIGN,
    sentence="only the first head is looked at. Average all heads.",
)
def alignment(weights):
    return weights[:, 0].argmax(dim=-1)


@wrong(
    check="alignment",
    section=ALIGN,
    sentence="each head has a result of its own. Average the heads first: (batch, "
    "target_len).",
)
def alignment(weights):
    return weights.argmax(dim=-1)


@wrong(
    check="alignment",
    section=ALIGN,
    sentence="the single largest weight of any head decides. Asked for is the largest "
    "average.",
)
def alignment(weights):
    return weights.amax(dim=1).argmax(dim=-1)


@wrong(
    check="alignment",
    section=ALIGN,
    sentence="the heads vote: each names its token, and the most frequent wins. "
    "Average the weights first, then take the largest.",
)
def alignment(weights):
    votes = weights.argmax(dim=-1)
    return F.one_hot(votes, weights.shape[-1]).sum(dim=1).argmax(dim=-1)


@wrong(
    check="alignment",
    section=ALIGN,
    sentence="these are the largest weights. Asked for is where they stand: argmax.",
)
def alignment(weights):
    return weights.mean(dim=1).amax(dim=-1)


@wrong(
    check="alignment",
    section=ALIGN,
    sentence="the target tokens are averaged instead of the heads. The heads are axis "
    "1.",
)
def alignment(weights):
    return weights.mean(dim=2).argmax(dim=-1)


wrong_choice(
    "from_encoder",
    check="concept-encoder",
    section=LOOK,
    a="the queries come from the decoder: it is the one that looks for something.",
    c="the queries come from the decoder. Keys and values both come from the memory.",
    d="the keys come from the encoder too: what hands over must also be found.",
)


wrong_choice(
    "own_look",
    check="concept-own-look",
    section=SOURCE,
    a="in self-attention all three come from the target. Keys of the encoder "
    "are the business of cross-attention.",
    b="that is how a recurrent translator began. Here the source comes in "
    "through cross-attention.",
    d="the causal mask only says which target tokens may see which. The "
    "source is not among them.",
)


wrong_choice(
    "output_size",
    check="concept-size",
    section=LENGTHS,
    b="there is one output for each query, and the queries are target tokens.",
    c="that is the table of weights. The output has a vector for each target token.",
    d="the two are not put behind each other: the target looks at the source.",
)


wrong_choice(
    "which_mask",
    check="concept-mask",
    section=MASK,
    a="the source is there as a whole; there is no future in it to hide.",
    b="the mask is about keys, and keys are source tokens.",
    c="the padding mask of the source is right, but there is no future to hide in it.",
)


wrong_choice(
    "read_once",
    check="concept-once",
    section=ONCE,
    a="they are not parameters: they are computed from the source.",
    c="it looks at the source at every step, with a new query each time.",
    d="the queries are new at each step. Keys and values are what stays.",
)


wrong_choice(
    "handed_over",
    check="concept-memory",
    section=LOOK,
    a="that was the bottleneck of chapter 00. A Transformer's encoder gives a "
    "vector for each token.",
    b="the weights stay inside the encoder. What comes out are vectors.",
    c="the ids go in. What comes out are vectors that know their surroundings.",
)
