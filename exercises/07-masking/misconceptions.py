"""Wrong answers that learners really give in chapter 07, each with its explanation."""

import torch
import torch.nn.functional as F

from exercises.answers import wrong, wrong_choice
from solutions.scaling import scaled_scores

FUTURE = "A triangle hides the future"
INFINITY = "Minus infinity, before the softmax"
LEAK = "The leakage test"
PARALLEL = "All places at once"
PADDING = "Filling must not matter"
COMBINE = "Both at once: and, not or"
NOTHING = "A row that may see nothing"
COST = "A mask saves nothing by itself"
SPARSE = "Four ways to see less"


@wrong(
    check="causal-mask",
    section=FUTURE,
    sentence="this is the upper triangle: every token sees what comes after it, and "
    "not what came before. Row i is the query; it may see columns up to i.",
)
def causal_mask(query_len, key_len=None):
    key_len = query_len if key_len is None else key_len
    everything = torch.ones(query_len, key_len, dtype=torch.bool)
    return everything.triu(diagonal=key_len - query_len)


@wrong(
    check="causal-mask",
    section=FUTURE,
    sentence="the mask is inverted: it is True where a token must not look. In this "
    "course, as in PyTorch's attention function, True means: may attend.",
)
def causal_mask(query_len, key_len=None):
    key_len = query_len if key_len is None else key_len
    everything = torch.ones(query_len, key_len, dtype=torch.bool)
    return everything.triu(diagonal=key_len - query_len + 1)


@wrong(
    check="causal-mask",
    section=FUTURE,
    sentence="a token does not see itself: the diagonal is hidden too. The first token "
    "is left with nothing at all. `tril` keeps the diagonal by default.",
)
def causal_mask(query_len, key_len=None):
    key_len = query_len if key_len is None else key_len
    everything = torch.ones(query_len, key_len, dtype=torch.bool)
    return everything.tril(diagonal=key_len - query_len - 1)


@wrong(
    check="causal-mask",
    section=LEAK,
    sentence="the diagonal is one too far to the right: every token sees the next one, "
    "the very one that it should predict.",
)
def causal_mask(query_len, key_len=None):
    key_len = query_len if key_len is None else key_len
    everything = torch.ones(query_len, key_len, dtype=torch.bool)
    return everything.tril(diagonal=key_len - query_len + 1)


@wrong(
    check="causal-mask",
    section=FUTURE,
    sentence="the queries are taken for the first tokens. When there are more keys, "
    "the queries are the last ones: the last row must be full.",
)
def causal_mask(query_len, key_len=None):
    key_len = query_len if key_len is None else key_len
    return torch.ones(query_len, key_len, dtype=torch.bool).tril()


@wrong(
    check="causal-mask",
    section=FUTURE,
    sentence="key_len is not used: there must be one column for each key, also when "
    "there are more keys than queries.",
)
def causal_mask(query_len, key_len=None):
    return torch.ones(query_len, query_len, dtype=torch.bool).tril()


@wrong(
    check="causal-mask",
    section=FUTURE,
    sentence="rows and columns are exchanged: there is one row for each query and one "
    "column for each key.",
)
def causal_mask(query_len, key_len=None):
    key_len = query_len if key_len is None else key_len
    return torch.ones(key_len, query_len).tril(query_len - key_len).bool()


@wrong(
    check="causal-mask",
    section=FUTURE,
    sentence="the mask holds ones and zeros instead of True and False. Make it "
    "boolean: `~` and `&` mean something else for numbers.",
)
def causal_mask(query_len, key_len=None):
    key_len = query_len if key_len is None else key_len
    return torch.ones(query_len, key_len).tril(key_len - query_len)


@wrong(
    check="causal-mask",
    section=FUTURE,
    sentence="these are numbers to add to the scores, 0 and minus infinity. Asked for "
    "is the boolean mask: True means may attend.",
)
def causal_mask(query_len, key_len=None):
    key_len = query_len if key_len is None else key_len
    minus = torch.full((query_len, key_len), -torch.inf)
    return minus.triu(key_len - query_len + 1)


@wrong(
    check="causal-mask",
    section=FUTURE,
    sentence="everything is allowed: nothing hides the future.",
)
def causal_mask(query_len, key_len=None):
    key_len = query_len if key_len is None else key_len
    return torch.ones(query_len, key_len, dtype=torch.bool)


@wrong(
    check="padding-mask",
    section=PADDING,
    sentence="the mask is inverted: it is True at the filling. True means may attend, "
    "so it must be True at the real tokens.",
)
def padding_mask(tokens, pad_id):
    return (tokens == pad_id)[:, None, None, :]


@wrong(
    check="padding-mask",
    section=PADDING,
    sentence="the mask has two axes only. Against scores of (batch, heads, query, key) "
    "its rows would be taken for queries. Put in two axes: (batch, 1, 1, key).",
)
def padding_mask(tokens, pad_id):
    return tokens != pad_id


@wrong(
    check="padding-mask",
    section=PADDING,
    sentence="one axis is missing: (batch, 1, key) would be read as (heads, query, "
    "key). Scores have four axes: (batch, 1, 1, key).",
)
def padding_mask(tokens, pad_id):
    return (tokens != pad_id)[:, None, :]


@wrong(
    check="padding-mask",
    section=PADDING,
    sentence="the tokens stand on the axis of the queries. Then filling cannot look, "
    "but it is still looked at. What must be hidden are keys: the last axis.",
)
def padding_mask(tokens, pad_id):
    return (tokens != pad_id)[:, None, :, None]


@wrong(
    check="padding-mask",
    section=PADDING,
    sentence="the id of the filling is taken to be 0. It is given as pad_id, and 0 may "
    "be a real token.",
)
def padding_mask(tokens, pad_id):
    return (tokens != 0)[:, None, None, :]


@wrong(
    check="padding-mask",
    section=PADDING,
    sentence="tokens with an id below pad_id are hidden too. Compare with != : only "
    "the filling itself must go.",
)
def padding_mask(tokens, pad_id):
    return (tokens > pad_id)[:, None, None, :]


@wrong(
    check="padding-mask",
    section=PADDING,
    sentence="the real tokens are counted, and the first so many places are allowed. "
    "That holds only while all filling stands on the right. Compare each token.",
)
def padding_mask(tokens, pad_id):
    lengths = (tokens != pad_id).sum(dim=1)
    places = torch.arange(tokens.shape[1], device=tokens.device)
    return (places < lengths[:, None])[:, None, None, :]


@wrong(
    check="padding-mask",
    section=PADDING,
    sentence="the mask holds numbers instead of True and False. A comparison gives "
    "booleans; leave them as they are.",
)
def padding_mask(tokens, pad_id):
    return (tokens != pad_id).float()[:, None, None, :]


@wrong(
    check="padding-mask",
    section=PADDING,
    sentence="rows of queries are hidden as well as columns of keys. Only keys need "
    "hiding: what filling itself looks at is thrown away anyhow. (batch, 1, 1, key).",
)
def padding_mask(tokens, pad_id):
    real = tokens != pad_id
    return (real[:, :, None] & real[:, None, :])[:, None]


@wrong(
    check="padding-mask",
    section=PADDING,
    sentence="the first sentence decides for all. Every sentence has its own filling, "
    "so the mask needs its first axis.",
)
def padding_mask(tokens, pad_id):
    return (tokens != pad_id)[:1, None, None, :].expand(len(tokens), 1, 1, -1)


@wrong(
    check="combine-masks",
    section=COMBINE,
    sentence="the masks are joined with OR: a key is seen if any mask allows it, so "
    "each mask undoes the other. Every mask must agree: use &.",
)
def combine_masks(*masks):
    combined = None
    for mask in masks:
        if mask is not None:
            combined = mask if combined is None else combined | mask
    return combined


@wrong(
    check="combine-masks",
    section=COMBINE,
    sentence="keys are seen where exactly one mask allows it (exclusive or). Every "
    "mask must agree: use &.",
)
def combine_masks(*masks):
    combined = None
    for mask in masks:
        if mask is not None:
            combined = mask if combined is None else combined ^ mask
    return combined


@wrong(
    check="combine-masks",
    section=COMBINE,
    sentence="keys are seen where the masks are equal, also where both forbid it. "
    "Every mask must allow it: use &.",
)
def combine_masks(*masks):
    combined = None
    for mask in masks:
        if mask is not None:
            combined = mask if combined is None else combined == mask
    return combined


@wrong(
    check="combine-masks",
    section=COMBINE,
    sentence="only the first two masks are looked at. There may be any number.",
)
def combine_masks(*masks):
    there = [mask for mask in masks if mask is not None][:2]
    if len(there) < 2:
        return there[0] if there else None
    return there[0] & there[1]


@wrong(
    check="combine-masks",
    section=COMBINE,
    sentence="one None makes the whole answer None, and the other masks are lost. None "
    "allows everything: pass over it.",
)
def combine_masks(*masks):
    combined = None
    for mask in masks:
        if mask is None:
            return None
        combined = mask if combined is None else combined & mask
    return combined


@wrong(
    check="combine-masks",
    section=COMBINE,
    sentence="None is not expected: it cannot be joined with &. It stands for a mask "
    "that allows everything, so leave it out.",
)
def combine_masks(*masks):
    combined = masks[0]
    for mask in masks[1:]:
        combined = combined & mask
    return combined


@wrong(
    check="combine-masks",
    section=COMBINE,
    sentence="the first mask is changed in place (&=, mul_ or out=), so whoever uses "
    "it next finds another mask. The sign & alone makes a new one.",
)
def combine_masks(*masks):
    combined = None
    for mask in masks:
        if mask is not None:
            if combined is None:
                combined = mask
            elif combined.shape == torch.broadcast_shapes(combined.shape, mask.shape):
                combined &= mask
            else:
                combined = combined & mask
    return combined


@wrong(
    check="combine-masks",
    section=COMBINE,
    sentence="the masks are added up as numbers. The result must be boolean, and True "
    "only where every mask is.",
)
def combine_masks(*masks):
    there = [mask.long() for mask in masks if mask is not None]
    return sum(there) if there else None


@wrong(
    check="combine-masks",
    section=COMBINE,
    sentence="the masks are stacked, which works only if all have one shape. A causal "
    "and a padding mask have not: & stretches them as needed.",
)
def combine_masks(*masks):
    there = [mask for mask in masks if mask is not None]
    return torch.stack(there).all(dim=0) if there else None


@wrong(
    check="masked-softmax",
    section=INFINITY,
    sentence="hidden scores are set to zero. But e to the power of 0 is 1: a score of "
    "zero is an ordinary score with an ordinary weight. Use minus infinity.",
)
def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    return torch.softmax(scores * mask, dim=-1)


@wrong(
    check="masked-softmax",
    section=INFINITY,
    sentence="the mask comes after the softmax, and the rest of the row no longer sums "
    "to one. Hide the scores before the softmax.",
)
def masked_softmax(scores, mask):
    weights = torch.softmax(scores, dim=-1)
    return weights if mask is None else weights * mask


@wrong(
    check="masked-softmax",
    section=INFINITY,
    sentence="the mask is read the wrong way round: what is allowed has been hidden. "
    "True means may attend, so minus infinity goes where the mask is False.",
)
def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    nothing = mask.all(dim=-1, keepdim=True)
    hidden = scores.masked_fill(mask & ~nothing, -torch.inf)
    return torch.softmax(hidden, dim=-1).masked_fill(nothing, 0.0)


@wrong(
    check="masked-softmax",
    section=INFINITY,
    sentence="hidden scores are set to plus infinity. They would win everything, and "
    "infinity divided by infinity is NaN. The sign must be minus.",
)
def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    return torch.softmax(scores.masked_fill(~mask, torch.inf), dim=-1)


@wrong(
    check="masked-softmax",
    section=INFINITY,
    sentence="hidden scores are set to −100. That is small for today's scores, and not "
    "for tomorrow's; and the weight is not zero. Use −torch.inf.",
)
def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    nothing = ~mask.any(dim=-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(~mask, -100.0), dim=-1)
    return weights.masked_fill(nothing, 0.0)


@wrong(
    check="masked-softmax",
    section=INFINITY,
    sentence="20 is subtracted from hidden scores. They are only made unlikely: a "
    "score that is high enough gets through. Use −torch.inf.",
)
def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    return torch.softmax(scores - 20.0 * ~mask, dim=-1)


@wrong(
    check="masked-softmax",
    section=INFINITY,
    sentence="−1e9 does not fit into half precision, whose numbers end near 65,504. "
    "−torch.inf fits into every kind of float.",
)
def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)
    return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


@wrong(
    check="masked-softmax",
    section=INFINITY,
    sentence="a mask is always expected. Without one (None) this is an ordinary "
    "softmax.",
)
def masked_softmax(scores, mask):
    nothing = ~mask.any(dim=-1, keepdim=True)
    hidden = scores.masked_fill(~mask & ~nothing, -torch.inf)
    return torch.softmax(hidden, dim=-1).masked_fill(nothing, 0.0)


@wrong(
    check="masked-softmax",
    section=INFINITY,
    sentence="the softmax runs over the queries. Each query shares its weight among "
    "the keys: the last axis.",
)
def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-2)
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-2)


@wrong(
    check="masked-softmax",
    section=INFINITY,
    sentence="the caller's scores are changed: masked_fill_ works in place. Without "
    "the underscore it makes a new tensor.",
)
def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    with torch.no_grad():
        scores.masked_fill_(~mask, -torch.inf)
    return torch.softmax(scores, dim=-1).nan_to_num(0.0)


@wrong(
    check="masked-softmax",
    section=INFINITY,
    sentence="the result is cut off from the graph (detach, .data, numpy or no_grad), "
    "so no gradient reaches the scores and nothing could learn.",
)
def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    hidden = scores.detach().masked_fill(~mask, -torch.inf)
    return torch.softmax(hidden, dim=-1).nan_to_num(0.0)


@wrong(
    check="masked-softmax",
    section=INFINITY,
    sentence="exponentials are taken without subtracting the largest score of the row. "
    "A large score overflows, hidden or not.",
)
def masked_softmax(scores, mask):
    exponentials = torch.exp(scores)
    if mask is not None:
        exponentials = exponentials * mask
    total = exponentials.sum(dim=-1, keepdim=True)
    return exponentials / total.clamp(min=1e-30)


@wrong(
    check="nothing-to-see",
    section=NOTHING,
    sentence="a row of nothing but minus infinity has become NaN, and one NaN in a "
    "batch spoils every weight of the model. Such a row must give zeros.",
)
def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)


@wrong(
    check="nothing-to-see",
    section=NOTHING,
    sentence="a row that may see nothing looks at everything alike, filling and future "
    "too. A very small finite number does that: all scores of the row are equal.",
)
def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    lowest = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(~mask, lowest), dim=-1)


@wrong(
    check="nothing-to-see",
    section=NOTHING,
    sentence="the mask is dropped for rows that may see nothing, so they see "
    "everything. Their weights must be zero.",
)
def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    nothing = ~mask.any(dim=-1, keepdim=True)
    return torch.softmax(scores.masked_fill(~mask & ~nothing, -torch.inf), dim=-1)


@wrong(
    check="nothing-to-see",
    section=NOTHING,
    sentence="NaN is replaced by zero at the end, but it has been in the computation, "
    "and its gradient is still NaN. Do not let it come up: give the row finite scores.",
)
def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    bias = torch.zeros_like(mask, dtype=scores.dtype).masked_fill(~mask, -torch.inf)
    return torch.softmax(scores + bias, dim=-1).nan_to_num(0.0)


@wrong(
    check="masked-softmax",
    section=INFINITY,
    sentence="the mask is multiplied by infinity, and zero times infinity is NaN. Put "
    "minus infinity where the mask is False: masked_fill.",
)
def masked_softmax(scores, mask):
    if mask is None:
        return torch.softmax(scores, dim=-1)
    weights = torch.softmax(scores + (mask.float() - 1) * torch.inf, dim=-1)
    return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


@wrong(
    check="masked-attention",
    section=INFINITY,
    sentence="the mask is not used: every token sees everything.",
)
def masked_attention(queries, keys, values, mask=None):
    return torch.softmax(scaled_scores(queries, keys), dim=-1) @ values


@wrong(
    check="masked-attention",
    section=INFINITY,
    sentence="the mask is read the wrong way round. True means may attend.",
)
def masked_attention(queries, keys, values, mask=None):
    scores = scaled_scores(queries, keys)
    if mask is not None:
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
    return torch.softmax(scores, dim=-1) @ values


@wrong(
    check="masked-attention",
    section=INFINITY,
    sentence="the scores are not scaled. Take scaled_scores: chapter 04 shows why.",
)
def masked_attention(queries, keys, values, mask=None):
    scores = queries @ keys.transpose(-2, -1)
    return masked_softmax(scores, mask) @ values


@wrong(
    check="masked-attention",
    section=INFINITY,
    sentence="the scores are divided by the root of d_k twice: scaled_scores has "
    "already done it.",
)
def masked_attention(queries, keys, values, mask=None):
    scores = scaled_scores(queries, keys) / queries.shape[-1] ** 0.5
    return masked_softmax(scores, mask) @ values


@wrong(
    check="masked-attention",
    section=INFINITY,
    sentence="the weights are masked after the softmax, so what is left of a row does "
    "not sum to one, and the hidden scores have had their say. Mask the scores.",
)
def masked_attention(queries, keys, values, mask=None):
    weights = torch.softmax(scaled_scores(queries, keys), dim=-1)
    return (weights if mask is None else weights * mask) @ values


@wrong(
    check="masked-attention",
    section=INFINITY,
    sentence="hidden values are set to zero by way of their scores: scores times the "
    "mask. A score of zero still has a weight; use the masked softmax.",
)
def masked_attention(queries, keys, values, mask=None):
    scores = scaled_scores(queries, keys)
    scores = scores if mask is None else scores * mask
    return torch.softmax(scores, dim=-1) @ values


@wrong(
    check="masked-attention",
    section=FUTURE,
    sentence="the mask is transposed: rows are queries and columns are keys, just as "
    "in the scores.",
)
def masked_attention(queries, keys, values, mask=None):
    scores = scaled_scores(queries, keys)
    if mask is not None and mask.shape[-1] == mask.shape[-2]:
        mask = mask.transpose(-2, -1)
    return masked_softmax(scores, mask) @ values


@wrong(
    check="masked-attention",
    section=FUTURE,
    sentence="a causal mask is put on top of whatever mask came, also of none. Use the "
    "mask that is given, and no other.",
)
def masked_attention(queries, keys, values, mask=None):
    causal = causal_mask(queries.shape[-2], keys.shape[-2]).to(queries.device)
    mask = causal if mask is None else mask & causal
    return masked_softmax(scaled_scores(queries, keys), mask) @ values


@wrong(
    check="masked-attention",
    section=INFINITY,
    sentence="the keys are mixed instead of the values. Keys only decide how much.",
)
def masked_attention(queries, keys, values, mask=None):
    return masked_softmax(scaled_scores(queries, keys), mask) @ keys


@wrong(
    check="sliding-window-mask",
    section=SPARSE,
    sentence="the window is one too wide: it holds the token itself and window - 1 "
    "before it, so the distance must be smaller than the window.",
)
def sliding_window_mask(seq, window):
    behind = torch.arange(seq)[:, None] - torch.arange(seq)[None, :]
    return (behind >= 0) & (behind <= window)


@wrong(
    check="sliding-window-mask",
    section=SPARSE,
    sentence="the window reaches ahead as well as behind, and lets the future in. Only "
    "distances of 0 and more are behind.",
)
def sliding_window_mask(seq, window):
    behind = torch.arange(seq)[:, None] - torch.arange(seq)[None, :]
    return behind.abs() < window


@wrong(
    check="sliding-window-mask",
    section=SPARSE,
    sentence="the window wraps round: the first tokens see the end of the text. That "
    "comes from roll or from %; a distance below zero lies ahead.",
)
def sliding_window_mask(seq, window):
    behind = torch.arange(seq)[:, None] - torch.arange(seq)[None, :]
    return behind % seq < window


@wrong(
    check="sliding-window-mask",
    section=SPARSE,
    sentence="rows and columns are exchanged: the window lies ahead of each token.",
)
def sliding_window_mask(seq, window):
    ahead = torch.arange(seq)[None, :] - torch.arange(seq)[:, None]
    return (ahead >= 0) & (ahead < window)


@wrong(
    check="sliding-window-mask",
    section=SPARSE,
    sentence="the text is cut into blocks, and the first token of a block sees nobody "
    "before it. A sliding window moves on by one with each token.",
)
def sliding_window_mask(seq, window):
    block = torch.arange(seq) // window
    return (block[:, None] == block[None, :]).tril()


@wrong(
    check="sliding-window-mask",
    section=SPARSE,
    sentence="the tokens before are seen, but not the token itself.",
)
def sliding_window_mask(seq, window):
    behind = torch.arange(seq)[:, None] - torch.arange(seq)[None, :]
    return (behind > 0) & (behind < window)


@wrong(
    check="sliding-window-mask",
    section=SPARSE,
    sentence="only what lies too far behind is hidden; the future is open. The "
    "distance must be at least 0, too.",
)
def sliding_window_mask(seq, window):
    behind = torch.arange(seq)[:, None] - torch.arange(seq)[None, :]
    return behind < window


@wrong(
    check="strided-mask",
    section=SPARSE,
    sentence="the near part is missing: a token also sees the stride tokens before it.",
)
def strided_mask(seq, stride):
    behind = torch.arange(seq)[:, None] - torch.arange(seq)[None, :]
    return (behind >= 0) & (behind % stride == 0)


@wrong(
    check="strided-mask",
    section=SPARSE,
    sentence="the far part is missing: a token also sees every token whose distance is "
    "a multiple of the stride. Without it this is a sliding window.",
)
def strided_mask(seq, stride):
    behind = torch.arange(seq)[:, None] - torch.arange(seq)[None, :]
    return (behind >= 0) & (behind <= stride)


@wrong(
    check="strided-mask",
    section=SPARSE,
    sentence="near and far are joined with `and`, so that hardly anything is left. One "
    "of the two is enough: |.",
)
def strided_mask(seq, stride):
    behind = torch.arange(seq)[:, None] - torch.arange(seq)[None, :]
    return (behind >= 0) & (behind <= stride) & (behind % stride == 0)


@wrong(
    check="strided-mask",
    section=SPARSE,
    sentence="the far tokens are counted from the beginning of the text, the same "
    "columns for all. In the strided pattern the distance is a multiple of the stride.",
)
def strided_mask(seq, stride):
    places = torch.arange(seq)
    behind = places[:, None] - places[None, :]
    return (behind >= 0) & ((behind <= stride) | (places % stride == 0)[None, :])


@wrong(
    check="strided-mask",
    section=SPARSE,
    sentence="the future is not hidden: a negative distance can be a multiple of the "
    "stride, too.",
)
def strided_mask(seq, stride):
    behind = torch.arange(seq)[:, None] - torch.arange(seq)[None, :]
    near = (behind >= 0) & (behind <= stride)
    return near | (behind % stride == 0)


@wrong(
    check="strided-mask",
    section=SPARSE,
    sentence="the near part ends at stride - 2 tokens before. It goes up to a distance "
    "of stride.",
)
def strided_mask(seq, stride):
    behind = torch.arange(seq)[:, None] - torch.arange(seq)[None, :]
    return (behind >= 0) & ((behind < stride - 1) | (behind % stride == 0))


@wrong(
    check="fixed-mask",
    section=SPARSE,
    sentence="the first tokens of each block are seen from afar, not the last. Only "
    "the last ones have seen the whole block and can sum it up.",
)
def fixed_mask(seq, stride, summary=1):
    places = torch.arange(seq)
    same_block = places[:, None] // stride == places[None, :] // stride
    return (same_block | (places % stride < summary)[None, :]).tril()


@wrong(
    check="fixed-mask",
    section=SPARSE,
    sentence="the future is not hidden: within its block a token sees what comes after "
    "it.",
)
def fixed_mask(seq, stride, summary=1):
    places = torch.arange(seq)
    same_block = places[:, None] // stride == places[None, :] // stride
    last_ones = (places % stride >= stride - summary)[None, :]
    earlier = places[:, None] >= places[None, :]
    return same_block | (last_ones & earlier)


@wrong(
    check="fixed-mask",
    section=SPARSE,
    sentence="a token does not see its own block, only the summaries.",
)
def fixed_mask(seq, stride, summary=1):
    places = torch.arange(seq)
    last_ones = (places % stride >= stride - summary)[None, :]
    return last_ones.expand(seq, seq).tril()


@wrong(
    check="fixed-mask",
    section=SPARSE,
    sentence="`summary` is not used: one token of each block is seen from afar, "
    "however many were asked for.",
)
def fixed_mask(seq, stride, summary=1):
    places = torch.arange(seq)
    same_block = places[:, None] // stride == places[None, :] // stride
    return (same_block | (places % stride == stride - 1)[None, :]).tril()


@wrong(
    check="fixed-mask",
    section=SPARSE,
    sentence="one token too many is seen of each block: the last `summary` tokens have "
    "remainders from stride - summary on.",
)
def fixed_mask(seq, stride, summary=1):
    places = torch.arange(seq)
    same_block = places[:, None] // stride == places[None, :] // stride
    last_ones = (places % stride >= stride - summary - 1)[None, :]
    return (same_block | last_ones).tril()


@wrong(
    check="fixed-mask",
    section=SPARSE,
    sentence="the own block slides along with the token. In the fixed pattern blocks "
    "stay where they are: compare place // stride.",
)
def fixed_mask(seq, stride, summary=1):
    places = torch.arange(seq)
    near = places[:, None] - places[None, :] < stride
    last_ones = (places % stride >= stride - summary)[None, :]
    return (near | last_ones).tril()


@wrong(
    check="fixed-mask",
    section=SPARSE,
    sentence="the summaries are missing: every block is alone, and nothing passes from "
    "one to the next.",
)
def fixed_mask(seq, stride, summary=1):
    places = torch.arange(seq)
    return (places[:, None] // stride == places[None, :] // stride).tril()


@wrong(
    check="fixed-mask",
    section=SPARSE,
    sentence="rows are chosen where columns are meant: the last tokens of a block see "
    "everything, instead of being seen.",
)
def fixed_mask(seq, stride, summary=1):
    places = torch.arange(seq)
    same_block = places[:, None] // stride == places[None, :] // stride
    last_ones = (places % stride >= stride - summary)[:, None]
    return (same_block | last_ones).tril()


@wrong(
    check="bigbird-mask",
    section=SPARSE,
    sentence="the first and the last block see everything, but are not seen by "
    "everybody. They need their columns as well as their rows.",
)
def bigbird_mask(num_blocks, block, num_random, generator):
    places = torch.arange(num_blocks)
    seen = (places[:, None] - places[None, :]).abs() <= 1
    seen[[0, -1], :] = True
    for row in seen[1:-1]:
        others = (~row).nonzero().flatten()
        order = torch.randperm(len(others), generator=generator)
        row[others[order[:num_random]]] = True
    return seen.repeat_interleave(block, 0).repeat_interleave(block, 1)


@wrong(
    check="bigbird-mask",
    section=SPARSE,
    sentence="the first and the last block are seen by everybody, but do not see "
    "everything themselves. They need their rows as well as their columns.",
)
def bigbird_mask(num_blocks, block, num_random, generator):
    places = torch.arange(num_blocks)
    seen = (places[:, None] - places[None, :]).abs() <= 1
    seen[:, [0, -1]] = True
    for row in seen[1:-1]:
        others = (~row).nonzero().flatten()
        order = torch.randperm(len(others), generator=generator)
        row[others[order[:num_random]]] = True
    return seen.repeat_interleave(block, 0).repeat_interleave(block, 1)


@wrong(
    check="bigbird-mask",
    section=SPARSE,
    sentence="only the first block is global. The last one sees everything too, and is "
    "seen by everybody.",
)
def bigbird_mask(num_blocks, block, num_random, generator):
    places = torch.arange(num_blocks)
    seen = (places[:, None] - places[None, :]).abs() <= 1
    seen[0, :], seen[:, 0] = True, True
    for row in seen[1:-1]:
        others = (~row).nonzero().flatten()
        order = torch.randperm(len(others), generator=generator)
        row[others[order[:num_random]]] = True
    return seen.repeat_interleave(block, 0).repeat_interleave(block, 1)


@wrong(
    check="bigbird-mask",
    section=SPARSE,
    sentence="the block ahead is hidden. BigBird reads as an encoder does: a block "
    "sees its neighbours on both sides.",
)
def bigbird_mask(num_blocks, block, num_random, generator):
    places = torch.arange(num_blocks)
    behind = places[:, None] - places[None, :]
    seen = (behind >= 0) & (behind <= 1)
    seen[[0, -1], :], seen[:, [0, -1]] = True, True
    for row in seen[1:-1]:
        others = (~row).nonzero().flatten()
        order = torch.randperm(len(others), generator=generator)
        row[others[order[:num_random]]] = True
    return seen.repeat_interleave(block, 0).repeat_interleave(block, 1)


@wrong(
    check="bigbird-mask",
    section=SPARSE,
    sentence="nothing is drawn by chance: the num_random further blocks are missing.",
)
def bigbird_mask(num_blocks, block, num_random, generator):
    places = torch.arange(num_blocks)
    seen = (places[:, None] - places[None, :]).abs() <= 1
    seen[[0, -1], :], seen[:, [0, -1]] = True, True
    return seen.repeat_interleave(block, 0).repeat_interleave(block, 1)


@wrong(
    check="bigbird-mask",
    section=SPARSE,
    sentence="blocks are drawn from all, so that some of the draws fall on blocks that "
    "are seen anyway. Draw only from those that are not seen yet.",
)
def bigbird_mask(num_blocks, block, num_random, generator):
    places = torch.arange(num_blocks)
    seen = (places[:, None] - places[None, :]).abs() <= 1
    seen[[0, -1], :], seen[:, [0, -1]] = True, True
    for row in seen[1:-1]:
        row[torch.randperm(num_blocks, generator=generator)[:num_random]] = True
    return seen.repeat_interleave(block, 0).repeat_interleave(block, 1)


@wrong(
    check="bigbird-mask",
    section=SPARSE,
    sentence="the given generator is not used, so that every call draws another mask. "
    "Pass generator=generator on.",
)
def bigbird_mask(num_blocks, block, num_random, generator):
    places = torch.arange(num_blocks)
    seen = (places[:, None] - places[None, :]).abs() <= 1
    seen[[0, -1], :], seen[:, [0, -1]] = True, True
    for row in seen[1:-1]:
        others = (~row).nonzero().flatten()
        row[others[torch.randperm(len(others))[:num_random]]] = True
    return seen.repeat_interleave(block, 0).repeat_interleave(block, 1)


@wrong(
    check="bigbird-mask",
    section=SPARSE,
    sentence="a seed of its own is set inside, so that the mask is the same for ever. "
    "Draw with the generator that is given.",
)
def bigbird_mask(num_blocks, block, num_random, generator):
    own = torch.Generator().manual_seed(0)
    places = torch.arange(num_blocks)
    seen = (places[:, None] - places[None, :]).abs() <= 1
    seen[[0, -1], :], seen[:, [0, -1]] = True, True
    for row in seen[1:-1]:
        others = (~row).nonzero().flatten()
        order = torch.randperm(len(others), generator=own)
        row[others[order[:num_random]]] = True
    return seen.repeat_interleave(block, 0).repeat_interleave(block, 1)


@wrong(
    check="bigbird-mask",
    section=SPARSE,
    sentence="the mask of blocks is laid out like tiles (repeat). Each entry has to "
    "grow in its place: repeat_interleave.",
)
def bigbird_mask(num_blocks, block, num_random, generator):
    places = torch.arange(num_blocks)
    seen = (places[:, None] - places[None, :]).abs() <= 1
    seen[[0, -1], :], seen[:, [0, -1]] = True, True
    for row in seen[1:-1]:
        others = (~row).nonzero().flatten()
        order = torch.randperm(len(others), generator=generator)
        row[others[order[:num_random]]] = True
    return seen.repeat(block, block)


@wrong(
    check="bigbird-mask",
    section=SPARSE,
    sentence="the mask has one row for each block. It needs one for each token: "
    "num_blocks * block.",
)
def bigbird_mask(num_blocks, block, num_random, generator):
    places = torch.arange(num_blocks)
    seen = (places[:, None] - places[None, :]).abs() <= 1
    seen[[0, -1], :], seen[:, [0, -1]] = True, True
    for row in seen[1:-1]:
        others = (~row).nonzero().flatten()
        order = torch.randperm(len(others), generator=generator)
        row[others[order[:num_random]]] = True
    return seen


@wrong(
    check="bigbird-mask",
    section=SPARSE,
    sentence="all blocks share one draw. Each block draws its own, so that together "
    "they reach everywhere.",
    seen="graded",
)
def bigbird_mask(num_blocks, block, num_random, generator):
    places = torch.arange(num_blocks)
    seen = (places[:, None] - places[None, :]).abs() <= 1
    seen[[0, -1], :], seen[:, [0, -1]] = True, True
    order = torch.randperm(num_blocks, generator=generator)
    for row in seen[1:-1]:
        row[[b for b in order.tolist() if not row[b]][:num_random]] = True
    return seen.repeat_interleave(block, 0).repeat_interleave(block, 1)


@wrong(
    check="sliding-window-attention",
    section=COST,
    sentence="all pairs are still computed, and then hidden: the far NaN came through "
    "as 0 times NaN. Cut keys and values down to the window first.",
)
def sliding_window_attention(queries, keys, values, window):
    mask = sliding_window_mask(queries.shape[-2], window).to(queries.device)
    return masked_attention(queries, keys, values, mask)


@wrong(
    check="sliding-window-attention",
    section=COST,
    sentence="the window is one too wide: it holds the token and window - 1 before it.",
)
def sliding_window_attention(queries, keys, values, window):
    outputs = []
    for i in range(queries.shape[-2]):
        near = slice(max(0, i - window), i + 1)
        query = queries[..., i : i + 1, :]
        outputs.append(
            masked_attention(query, keys[..., near, :], values[..., near, :])
        )
    return torch.cat(outputs, dim=-2)


@wrong(
    check="sliding-window-attention",
    section=COST,
    sentence="the token itself is left out of its window: a slice ends before its "
    "second number.",
)
def sliding_window_attention(queries, keys, values, window):
    outputs = []
    for i in range(queries.shape[-2]):
        near = slice(max(0, i - window + 1), max(i, 1))
        query = queries[..., i : i + 1, :]
        outputs.append(
            masked_attention(query, keys[..., near, :], values[..., near, :])
        )
    return torch.cat(outputs, dim=-2)


@wrong(
    check="sliding-window-attention",
    section=COST,
    sentence="the filling in front of the text is looked at: a key of zeros has a "
    "score of zero, which is an ordinary score. Hide it with a mask.",
)
def sliding_window_attention(queries, keys, values, window):
    near_keys, near_values = (
        F.pad(t, (0, 0, window - 1, 0)).unfold(-2, window, 1).transpose(-2, -1)
        for t in (keys, values)
    )
    found = masked_attention(queries[..., None, :], near_keys, near_values)
    return found.squeeze(-2)


@wrong(
    check="sliding-window-attention",
    section=COST,
    sentence="the window lies around the token and lets the future in. It ends at the "
    "token itself.",
)
def sliding_window_attention(queries, keys, values, window):
    outputs = []
    for i in range(queries.shape[-2]):
        near = slice(max(0, i - window + 1), i + window)
        query = queries[..., i : i + 1, :]
        outputs.append(
            masked_attention(query, keys[..., near, :], values[..., near, :])
        )
    return torch.cat(outputs, dim=-2)


@wrong(
    check="sliding-window-attention",
    section=COST,
    sentence="the scores are not scaled. Divide them by the root of d_k, or call "
    "masked_attention.",
)
def sliding_window_attention(queries, keys, values, window):
    outputs = []
    for i in range(queries.shape[-2]):
        near = slice(max(0, i - window + 1), i + 1)
        scores = queries[..., i : i + 1, :] @ keys[..., near, :].mT
        outputs.append(torch.softmax(scores, dim=-1) @ values[..., near, :])
    return torch.cat(outputs, dim=-2)


@wrong(
    check="sliding-window-attention",
    section=COST,
    sentence="the text is cut into blocks, and the first token of a block has lost "
    "those before it. The window moves on by one with each token.",
)
def sliding_window_attention(queries, keys, values, window):
    outputs = []
    for i in range(queries.shape[-2]):
        near = slice(i // window * window, i + 1)
        query = queries[..., i : i + 1, :]
        outputs.append(
            masked_attention(query, keys[..., near, :], values[..., near, :])
        )
    return torch.cat(outputs, dim=-2)


wrong_choice(
    "why_infinity",
    check="concept-infinity",
    section=INFINITY,
    a="softmax takes any numbers. Minus infinity is chosen because its exponential "
    "is zero.",
    b="nothing is learned here. A hidden score gets no gradient; the mask decides.",
    d="memory has no part in it. A score of 0 would still get a weight: e to the "
    "power of 0 is 1.",
)
wrong_choice(
    "encoder_mask",
    check="concept-encoder",
    section=PADDING,
    a="only the causal mask is dropped. Filling is still filling, and must be hidden.",
    c="the encoder may read in both directions. What it must not see is filling.",
    d="the causal mask belongs to the decoder. An encoder may read what comes later.",
)
wrong_choice(
    "scores_computed",
    check="concept-cost",
    section=COST,
    a="each query is compared with every key, so there are n times n scores.",
    b="so many are used. But all of them are computed first, and the others are "
    "thrown away.",
    c="nothing here is sorted or halved: the product of queries and keys has n times "
    "n entries.",
)
wrong_choice(
    "all_at_once",
    check="concept-parallel",
    section=PARALLEL,
    b="in use the tokens come one after the other, each made from those before. Only "
    "in training are all of them known.",
    c="they do depend on each other: each place looks at all earlier ones.",
    d="the sentence keeps its length. The mask only says who may look at whom.",
)


@wrong(
    check="sliding-window-attention",
    section=COST,
    sentence="all pairs are scored, and those outside the window are hidden "
    "afterwards. Their scores must not be computed at all.",
)
def sliding_window_attention(queries, keys, values, window):
    seq = queries.shape[-2]
    behind = torch.arange(seq)[:, None] - torch.arange(seq)
    near = ((behind >= 0) & (behind < window)).to(queries.device)
    scores = queries @ keys.mT / queries.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(~near, -torch.inf), dim=-1)
    shares = weights[..., None] * values[..., None, :, :]
    return torch.where(near[..., None], shares, 0.0).sum(dim=-2)
