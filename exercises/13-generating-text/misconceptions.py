"""Wrong answers that learners really give in chapter 13, each with its explanation."""

import math

import torch

from exercises.answers import wrong, wrong_choice
from solutions.masking import causal_mask, masked_softmax
from solutions.multi_head import share_heads
from solutions.positions import rotate
from solutions.scaling import scaled_scores

TEMPERATURE = "Bolder or safer"
TOP_K = "Only the likeliest"
TOP_P = "The smallest set that reaches p"
REPETITION = "Not the same again"
BATCH = "Prompts of different lengths"
CACHE = "Read every token once"
HEADS = "What the cache costs"
TIME = "The first token and the others"
BEAMS = "Several texts at once"


# --- temperature --------------------------------------------------------------------


@wrong(
    check="temperature",
    section=TEMPERATURE,
    sentence="the logits are multiplied by the temperature. Then a high one makes the "
    "choice safer, where it should make it bolder: divide.",
)
def with_temperature(logits, temperature):
    if temperature < 0:
        raise ValueError
    if temperature == 0:
        best = logits.argmax(dim=-1, keepdim=True)
        return torch.full_like(logits, -torch.inf).scatter(-1, best, 0.0)
    return logits * temperature


@wrong(
    check="temperature",
    section=TEMPERATURE,
    sentence="the probabilities are divided, after the softmax. Divide the logits: the "
    "softmax comes later.",
)
def with_temperature(logits, temperature):
    if temperature < 0:
        raise ValueError
    if temperature == 0:
        best = logits.argmax(dim=-1, keepdim=True)
        return torch.full_like(logits, -torch.inf).scatter(-1, best, 0.0)
    return torch.softmax(logits, dim=-1) / temperature


@wrong(
    check="temperature",
    section=TEMPERATURE,
    sentence="at temperature 0 it divides by 0, and the result is infinite or NaN. "
    "Temperature 0 stands for the limit, the best token alone.",
)
def with_temperature(logits, temperature):
    if temperature < 0:
        raise ValueError
    return logits / temperature


@wrong(
    check="temperature",
    section=TEMPERATURE,
    sentence="temperature 0 leaves the logits as they are. It is the coldest there is: "
    "only the best token stays.",
)
def with_temperature(logits, temperature):
    if temperature < 0:
        raise ValueError
    return logits / temperature if temperature else logits


@wrong(
    check="temperature",
    section=TEMPERATURE,
    sentence="at temperature 0 the other tokens get a logit of 0, not of minus "
    "infinity. Then they still have a chance.",
)
def with_temperature(logits, temperature):
    if temperature < 0:
        raise ValueError
    if temperature == 0:
        best = logits.argmax(dim=-1, keepdim=True)
        return torch.zeros_like(logits).scatter(-1, best, 1.0)
    return logits / temperature


@wrong(
    check="temperature",
    section=TEMPERATURE,
    sentence="at temperature 0 one token is chosen for the whole batch. Each text has "
    "its own best token.",
)
def with_temperature(logits, temperature):
    if temperature < 0:
        raise ValueError
    if temperature == 0:
        cold = torch.full_like(logits, -torch.inf)
        cold[:, logits.flatten().argmax() % logits.shape[-1]] = 0.0
        return cold
    return logits / temperature


@wrong(
    check="temperature",
    section=TEMPERATURE,
    sentence="a temperature below 0 is taken as it is. It would turn the order round, "
    "so that the worst token comes first; refuse it with ValueError.",
)
def with_temperature(logits, temperature):
    if temperature == 0:
        best = logits.argmax(dim=-1, keepdim=True)
        return torch.full_like(logits, -torch.inf).scatter(-1, best, 0.0)
    return logits / temperature


@wrong(
    check="temperature",
    section=TEMPERATURE,
    seen="graded",
    sentence="for temperature 0 it divides by a small number. Where two logits are "
    "nearly equal, both keep a chance; only the larger one may stay.",
)
def with_temperature(logits, temperature):
    if temperature < 0:
        raise ValueError
    return logits / max(temperature, 1e-2)


@wrong(
    check="temperature",
    section=TEMPERATURE,
    sentence="at temperature 0 all of the equally likely tokens stay. Only one is to "
    "be certain.",
    seen="graded",
)
def with_temperature(logits, temperature):
    if temperature < 0:
        raise ValueError
    if temperature == 0:
        best = logits.amax(dim=-1, keepdim=True)
        return logits.masked_fill(logits < best, -torch.inf)
    return logits / temperature


# --- top-k --------------------------------------------------------------------------


@wrong(
    check="top-k",
    section=TOP_K,
    sentence="it keeps everything that is not below the k-th logit. If several are "
    "equal, these are more than k.",
)
def top_k(logits, k):
    if k < 1:
        raise ValueError
    least = logits.topk(min(k, logits.shape[-1])).values[:, -1:]
    return logits.masked_fill(logits < least, -torch.inf)


@wrong(
    check="top-k",
    section=TOP_K,
    sentence="one too few is kept: the k-th token itself is dropped.",
)
def top_k(logits, k):
    if k < 1:
        raise ValueError
    least = logits.topk(min(k, logits.shape[-1])).values[:, -1:]
    return logits.masked_fill(logits <= least, -torch.inf)


@wrong(
    check="top-k",
    section=TOP_K,
    sentence="one too many is kept.",
)
def top_k(logits, k):
    if k < 1:
        raise ValueError
    kept = logits.topk(min(k + 1, logits.shape[-1]), dim=-1)
    return torch.full_like(logits, -torch.inf).scatter(-1, kept.indices, kept.values)


@wrong(
    check="top-k",
    section=TOP_K,
    sentence="the tokens that are dropped get a logit of 0. A logit of 0 is not "
    "impossible: take minus infinity.",
)
def top_k(logits, k):
    if k < 1:
        raise ValueError
    kept = logits.topk(min(k, logits.shape[-1]), dim=-1)
    return torch.zeros_like(logits).scatter(-1, kept.indices, kept.values)


@wrong(
    check="top-k",
    section=TOP_K,
    sentence="the k smallest logits are kept.",
)
def top_k(logits, k):
    if k < 1:
        raise ValueError
    k = min(k, logits.shape[-1])
    kept = logits.topk(k, dim=-1, largest=False)
    return torch.full_like(logits, -torch.inf).scatter(-1, kept.indices, kept.values)


@wrong(
    check="top-k",
    section=TOP_K,
    sentence="the result is sorted, the best first. A column stands for a token: write "
    "each logit back to its own place.",
)
def top_k(logits, k):
    if k < 1:
        raise ValueError
    k = min(k, logits.shape[-1])
    found = torch.full_like(logits, -torch.inf)
    found[:, :k] = logits.topk(k, dim=-1).values
    return found


@wrong(
    check="top-k",
    section=TOP_K,
    sentence="the likeliest tokens of the first text are kept in every text. Each has "
    "its own.",
)
def top_k(logits, k):
    if k < 1:
        raise ValueError
    places = logits[0].topk(min(k, logits.shape[-1])).indices
    found = torch.full_like(logits, -torch.inf)
    found[:, places] = logits[:, places]
    return found


@wrong(
    check="top-k",
    section=TOP_K,
    sentence="it fails if there are fewer than k tokens. Keep all of them then.",
)
def top_k(logits, k):
    if k < 1:
        raise ValueError
    kept = logits.topk(k, dim=-1)
    return torch.full_like(logits, -torch.inf).scatter(-1, kept.indices, kept.values)


@wrong(
    check="top-k",
    section=TOP_K,
    sentence="a k of 0 is taken as it is, and no token is left to choose. Refuse it "
    "with ValueError.",
)
def top_k(logits, k):
    kept = logits.topk(min(k, logits.shape[-1]), dim=-1)
    return torch.full_like(logits, -torch.inf).scatter(-1, kept.indices, kept.values)


# --- top-p --------------------------------------------------------------------------


@wrong(
    check="top-p",
    section=TOP_P,
    sentence="p is taken as a number of tokens. It is a probability: take tokens until "
    "theirs add up to p.",
)
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError
    count = max(1, int(p * logits.shape[-1]))
    kept = logits.topk(count, dim=-1)
    return torch.full_like(logits, -torch.inf).scatter(-1, kept.indices, kept.values)


@wrong(
    check="top-p",
    section=TOP_P,
    sentence="every token whose own probability is at least p is kept. It is the sum "
    "that must reach p.",
)
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError
    shares = torch.softmax(logits, dim=-1)
    least = torch.minimum(shares.amax(-1, keepdim=True), torch.tensor(p))
    return logits.masked_fill(shares < least, -torch.inf)


@wrong(
    check="top-p",
    section=TOP_P,
    sentence="the token with which the sum reaches p is dropped, so the set stays "
    "below p. It must reach at least p.",
)
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError
    ordered, places = logits.sort(dim=-1, descending=True)
    sums = torch.softmax(ordered, dim=-1).cumsum(dim=-1)
    drop = sums > p
    drop[:, 0] = False
    ordered = ordered.masked_fill(drop, -torch.inf)
    return torch.full_like(logits, -torch.inf).scatter(-1, places, ordered)


@wrong(
    check="top-p",
    section=TOP_P,
    sentence="where the likelier tokens have reached p exactly, one more is kept. At "
    "least p means that p itself is enough.",
)
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError
    ordered, places = logits.sort(dim=-1, descending=True, stable=True)
    shares = torch.softmax(ordered.double(), dim=-1)
    before = shares.cumsum(dim=-1) - shares
    ordered = ordered.masked_fill(before > p + 1e-9, -torch.inf)
    return torch.full_like(logits, -torch.inf).scatter(-1, places, ordered)


@wrong(
    check="top-p",
    section=TOP_P,
    sentence="if the likeliest token alone is more than p, nothing is kept. One token "
    "always stays.",
)
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError
    ordered, places = logits.sort(dim=-1, descending=True)
    sums = torch.softmax(ordered, dim=-1).cumsum(dim=-1)
    ordered = ordered.masked_fill(sums > p, -torch.inf)
    return torch.full_like(logits, -torch.inf).scatter(-1, places, ordered)


@wrong(
    check="top-p",
    section=TOP_P,
    sentence="the result is sorted, the best first. A column stands for a token: write "
    "each logit back to its own place.",
)
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError
    ordered, _ = logits.sort(dim=-1, descending=True)
    shares = torch.softmax(ordered.double(), dim=-1)
    before = shares.cumsum(dim=-1) - shares
    return ordered.masked_fill(before >= p - 1e-9, -torch.inf)


@wrong(
    check="top-p",
    section=TOP_P,
    sentence="the mask of the sorted logits is laid over the unsorted ones. Write it "
    "back to the tokens' own places first.",
)
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError
    ordered, _ = logits.sort(dim=-1, descending=True)
    shares = torch.softmax(ordered.double(), dim=-1)
    before = shares.cumsum(dim=-1) - shares
    return logits.masked_fill(before >= p - 1e-9, -torch.inf)


@wrong(
    check="top-p",
    section=TOP_P,
    sentence="the sorted logits are looked up with `gather`, by places that were made "
    "for `scatter`. That mixes the tokens up again instead of sorting them back.",
)
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError
    ordered, places = logits.sort(dim=-1, descending=True)
    shares = torch.softmax(ordered.double(), dim=-1)
    before = shares.cumsum(dim=-1) - shares
    drop = before >= p - 1e-9
    return logits.masked_fill(drop.gather(-1, places), -torch.inf)


@wrong(
    check="top-p",
    section=TOP_P,
    sentence="the tokens are sorted the wrong way: the unlikeliest come first, and far "
    "too many are kept.",
)
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError
    ordered, places = logits.sort(dim=-1)
    shares = torch.softmax(ordered.double(), dim=-1)
    before = shares.cumsum(dim=-1) - shares
    ordered = ordered.masked_fill(before >= p - 1e-9, -torch.inf)
    return torch.full_like(logits, -torch.inf).scatter(-1, places, ordered)


@wrong(
    check="top-p",
    section=TOP_P,
    sentence="the logits are added up, not the probabilities. Take the softmax of the "
    "sorted logits first.",
)
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError
    ordered, places = logits.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    drop = before >= p
    drop[:, 0] = False
    ordered = ordered.masked_fill(drop, -torch.inf)
    return torch.full_like(logits, -torch.inf).scatter(-1, places, ordered)


@wrong(
    check="top-p",
    section=TOP_P,
    sentence="the number of tokens is that of the first text, for every text. Each "
    "counts for itself: a sure one needs few, an unsure one many.",
)
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError
    sums = torch.softmax(logits, -1).sort(-1, descending=True).values.cumsum(-1)
    count = int((sums[0] < p - 1e-6).sum()) + 1
    kept = logits.topk(min(count, logits.shape[-1]), dim=-1)
    return torch.full_like(logits, -torch.inf).scatter(-1, kept.indices, kept.values)


@wrong(
    check="top-p",
    section=TOP_P,
    sentence="what is dropped gets a logit of 0 and may still be chosen: take minus "
    "infinity.",
)
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError
    ordered, places = logits.sort(dim=-1, descending=True)
    shares = torch.softmax(ordered.double(), dim=-1)
    before = shares.cumsum(dim=-1) - shares
    ordered = ordered.masked_fill(before >= p - 1e-9, 0.0)
    return torch.zeros_like(logits).scatter(-1, places, ordered)


@wrong(
    check="top-p",
    section=TOP_P,
    sentence="a p of 0, or of more than 1, is taken as it is. Refuse it with "
    "ValueError.",
)
def top_p(logits, p):
    ordered, places = logits.sort(dim=-1, descending=True)
    shares = torch.softmax(ordered.double(), dim=-1)
    before = shares.cumsum(dim=-1) - shares
    drop = before >= p - 1e-9
    drop[:, 0] = False
    ordered = ordered.masked_fill(drop, -torch.inf)
    return torch.full_like(logits, -torch.inf).scatter(-1, places, ordered)


# --- repetition ---------------------------------------------------------------------


@wrong(
    check="repetition",
    section=REPETITION,
    sentence="every logit is divided. A negative one comes nearer to 0, so the token "
    "becomes likelier than before: multiply those that are negative.",
)
def less_repetition(logits, written, penalty):
    scores = logits.gather(-1, written)
    return logits.scatter(-1, written, scores / penalty)


@wrong(
    check="repetition",
    section=REPETITION,
    sentence="every logit is multiplied. A positive one becomes larger, and the token "
    "likelier: divide those that are positive.",
)
def less_repetition(logits, written, penalty):
    scores = logits.gather(-1, written)
    return logits.scatter(-1, written, scores * penalty)


@wrong(
    check="repetition",
    section=REPETITION,
    sentence="division and multiplication have changed places, so every written token "
    "becomes likelier.",
)
def less_repetition(logits, written, penalty):
    scores = logits.gather(-1, written)
    higher = torch.where(scores > 0, scores * penalty, scores / penalty)
    return logits.scatter(-1, written, higher)


@wrong(
    check="repetition",
    section=REPETITION,
    sentence="a token that was written three times is lowered three times. Once is "
    "meant, however often it occurs.",
)
def less_repetition(logits, written, penalty):
    lower = logits.clone()
    for row, text in enumerate(written.tolist()):
        for token in text:
            score = lower[row, token]
            lower[row, token] = score / penalty if score > 0 else score * penalty
    return lower


@wrong(
    check="repetition",
    section=REPETITION,
    sentence="the tokens of all texts are lowered in every text. Each text has its own "
    "tokens.",
)
def less_repetition(logits, written, penalty):
    lower = logits.clone()
    for token in set(written.flatten().tolist()):
        scores = logits[:, token]
        changed = torch.where(scores > 0, scores / penalty, scores * penalty)
        lower[:, token] = changed
    return lower


@wrong(
    check="repetition",
    section=REPETITION,
    sentence="the penalty is subtracted. CTRL divides, and multiplies what is "
    "negative.",
)
def less_repetition(logits, written, penalty):
    return logits.scatter(-1, written, logits.gather(-1, written) - penalty)


@wrong(
    check="repetition",
    section=REPETITION,
    sentence="all tokens are lowered, not only those that were written.",
)
def less_repetition(logits, written, penalty):
    return torch.where(logits > 0, logits / penalty, logits * penalty)


@wrong(
    check="repetition",
    section=REPETITION,
    sentence="only the last token is lowered. Every token of the text counts.",
)
def less_repetition(logits, written, penalty):
    last = written[:, -1:]
    scores = logits.gather(-1, last)
    lower = torch.where(scores > 0, scores / penalty, scores * penalty)
    return logits.scatter(-1, last, lower)


@wrong(
    check="repetition",
    section=REPETITION,
    sentence="the logits that were handed over are changed in place. Make a new "
    "tensor, with `scatter` instead of `scatter_`.",
)
def less_repetition(logits, written, penalty):
    scores = logits.gather(-1, written)
    lower = torch.where(scores > 0, scores / penalty, scores * penalty)
    return logits.scatter_(-1, written, lower)


# --- drawing ------------------------------------------------------------------------


@wrong(
    check="sample",
    section=TEMPERATURE,
    sentence="the likeliest token is taken, always. To draw means that each comes as "
    "often as its probability says.",
)
def sample(logits, generator=None):
    return logits.argmax(dim=-1)


@wrong(
    check="sample",
    section=TEMPERATURE,
    sentence="the generator is not used, so the same seed gives other tokens each "
    "time.",
)
def sample(logits, generator=None):
    return torch.multinomial(torch.softmax(logits, dim=-1), 1).squeeze(-1)


@wrong(
    check="sample",
    section=TEMPERATURE,
    sentence="the tokens have a second axis of size 1. One number for each text is "
    "wanted: squeeze the last axis.",
)
def sample(logits, generator=None):
    return torch.multinomial(torch.softmax(logits, dim=-1), 1, generator=generator)


@wrong(
    check="sample",
    section=TEMPERATURE,
    sentence="every token has the same chance. Draw by the softmax of the logits.",
)
def sample(logits, generator=None):
    chances = torch.isfinite(logits).float()
    return torch.multinomial(chances, 1, generator=generator).squeeze(-1)


@wrong(
    check="sample",
    section=TEMPERATURE,
    sentence="logits are used as if they were probabilities. Take the softmax first.",
)
def sample(logits, generator=None):
    shares = (logits - logits.amin(dim=-1, keepdim=True) + 1e-3).clamp(min=0)
    return torch.multinomial(shares, 1, generator=generator).squeeze(-1)


@wrong(
    check="sample",
    section=TEMPERATURE,
    sentence="every axis of size 1 is taken away: for one text alone there is no axis "
    "left. Squeeze the last one only.",
    seen="graded",
)
def sample(logits, generator=None):
    chances = torch.softmax(logits, dim=-1)
    return torch.multinomial(chances, 1, generator=generator).squeeze()


@wrong(
    check="sample",
    section=TEMPERATURE,
    sentence="normal noise is added to the logits. That does not draw by the softmax; "
    "Gumbel noise would.",
    seen="graded",
)
def sample(logits, generator=None):
    noise = torch.randn(logits.shape, generator=generator)
    return (logits + noise).argmax(dim=-1)


# --- batches ------------------------------------------------------------------------


@wrong(
    check="pad-left",
    section=BATCH,
    sentence="the filling stands behind the texts. Then the next token of a short text "
    "is written behind filling: put it in front.",
)
def pad_left(texts, pad_id):
    longest = max(map(len, texts))
    rows = [text + [pad_id] * (longest - len(text)) for text in texts]
    real = [[True] * len(text) + [False] * (longest - len(text)) for text in texts]
    return torch.tensor(rows), torch.tensor(real)


@wrong(
    check="pad-left",
    section=BATCH,
    sentence="the booleans are the other way round: True means real.",
)
def pad_left(texts, pad_id):
    longest = max(map(len, texts))
    rows = [[pad_id] * (longest - len(text)) + text for text in texts]
    real = [[True] * (longest - len(text)) + [False] * len(text) for text in texts]
    return torch.tensor(rows), torch.tensor(real)


@wrong(
    check="pad-left",
    section=BATCH,
    sentence="a real token is taken for filling because it has the same number. In "
    "GPT-2 the end of a text serves as filling too; the lengths say what is real.",
)
def pad_left(texts, pad_id):
    longest = max(map(len, texts))
    rows = [[pad_id] * (longest - len(text)) + text for text in texts]
    return torch.tensor(rows), torch.tensor(rows) != pad_id


@wrong(
    check="pad-left",
    section=BATCH,
    sentence="long texts are cut to the length of the shortest. Fill up the short "
    "ones.",
)
def pad_left(texts, pad_id):
    shortest = min(map(len, texts))
    tokens = torch.tensor([text[-shortest:] for text in texts])
    return tokens, torch.ones_like(tokens, dtype=torch.bool)


@wrong(
    check="pad-left",
    section=BATCH,
    sentence="the filling is always 0, whatever pad_id says.",
)
def pad_left(texts, pad_id):
    longest = max(map(len, texts))
    rows = [[0] * (longest - len(text)) + text for text in texts]
    real = [[False] * (longest - len(text)) + [True] * len(text) for text in texts]
    return torch.tensor(rows), torch.tensor(real)


@wrong(
    check="places",
    section=BATCH,
    sentence="the columns are numbered, filling included. Then a short text begins at "
    "position 3, say, and is no longer the text that it is alone.",
)
def real_places(real):
    return torch.arange(real.shape[1]).expand(real.shape)


@wrong(
    check="places",
    section=BATCH,
    sentence="the first real token has position 1. Counting begins with 0: subtract 1.",
)
def real_places(real):
    return real.long().cumsum(dim=-1)


@wrong(
    check="places",
    section=BATCH,
    sentence="filling gets position -1, which is in no table. Give it any that exists.",
)
def real_places(real):
    return real.long().cumsum(dim=-1) - 1


@wrong(
    check="places",
    section=BATCH,
    sentence="the filling is counted, not the real tokens.",
)
def real_places(real):
    return ((~real).long().cumsum(dim=-1) - 1).clamp(min=0)


@wrong(
    check="places",
    section=BATCH,
    sentence="the positions run backwards, from the end of the text.",
)
def real_places(real):
    return real.long().flip(-1).cumsum(dim=-1).flip(-1) - 1 + (~real).long()


# --- the cache ----------------------------------------------------------------------


@wrong(
    check="cached-attention",
    section=CACHE,
    sentence="the new tokens are turned as if they stood at the beginning. With `past` "
    "tokens read before, they stand at past, past + 1, and so on.",
)
def cached_attention(queries, keys, values, kept=None, bias=None):
    past, new = kept[0].shape[2] if kept else 0, queries.shape[2]
    places = torch.arange(new)
    queries, keys = rotate(queries, places), rotate(keys, places)
    if kept:
        keys = torch.cat([kept[0], keys], dim=2)
        values = torch.cat([kept[1], values], dim=2)
    shared = [share_heads(t, queries.shape[1]) for t in (keys, values)]
    scores = scaled_scores(queries, shared[0])
    if bias is not None:
        scores = scores + bias[:, past:]
    mask = causal_mask(new, past + new)
    return masked_softmax(scores, mask) @ shared[1], (keys, values)


@wrong(
    check="cached-attention",
    section=CACHE,
    sentence="kept keys are turned again with each piece. They were turned when they "
    "were new: turn the new ones only, then append.",
)
def cached_attention(queries, keys, values, kept=None, bias=None):
    past, new = kept[0].shape[2] if kept else 0, queries.shape[2]
    if kept:
        keys = torch.cat([kept[0], keys], dim=2)
        values = torch.cat([kept[1], values], dim=2)
    keys = rotate(keys, torch.arange(past + new))
    queries = rotate(queries, torch.arange(past, past + new))
    shared = [share_heads(t, queries.shape[1]) for t in (keys, values)]
    scores = scaled_scores(queries, shared[0])
    if bias is not None:
        scores = scores + bias[:, past:]
    mask = causal_mask(new, past + new)
    return masked_softmax(scores, mask) @ shared[1], (keys, values)


@wrong(
    check="cached-attention",
    section=CACHE,
    sentence="the keys are kept before they are turned, and then used as they are. "
    "Turn the new ones, append them, and keep the result.",
)
def cached_attention(queries, keys, values, kept=None, bias=None):
    past, new = kept[0].shape[2] if kept else 0, queries.shape[2]
    places = torch.arange(past, past + new)
    plain = torch.cat([kept[0], keys], dim=2) if kept else keys
    queries, keys = rotate(queries, places), rotate(keys, places)
    if kept:
        keys = torch.cat([kept[0], keys], dim=2)
        values = torch.cat([kept[1], values], dim=2)
    shared = [share_heads(t, queries.shape[1]) for t in (keys, values)]
    scores = scaled_scores(queries, shared[0])
    if bias is not None:
        scores = scores + bias[:, past:]
    mask = causal_mask(new, past + new)
    return masked_softmax(scores, mask) @ shared[1], (plain, values)


@wrong(
    check="cached-attention",
    section=CACHE,
    sentence="queries and keys are not turned by their positions at all.",
)
def cached_attention(queries, keys, values, kept=None, bias=None):
    past, new = kept[0].shape[2] if kept else 0, queries.shape[2]
    if kept:
        keys = torch.cat([kept[0], keys], dim=2)
        values = torch.cat([kept[1], values], dim=2)
    shared = [share_heads(t, queries.shape[1]) for t in (keys, values)]
    scores = scaled_scores(queries, shared[0])
    if bias is not None:
        scores = scores + bias[:, past:]
    mask = causal_mask(new, past + new)
    return masked_softmax(scores, mask) @ shared[1], (keys, values)


@wrong(
    check="cached-attention",
    section=CACHE,
    sentence="the keys are turned, but not the queries. The angle between them must "
    "depend on their distance.",
)
def cached_attention(queries, keys, values, kept=None, bias=None):
    past, new = kept[0].shape[2] if kept else 0, queries.shape[2]
    keys = rotate(keys, torch.arange(past, past + new))
    if kept:
        keys = torch.cat([kept[0], keys], dim=2)
        values = torch.cat([kept[1], values], dim=2)
    shared = [share_heads(t, queries.shape[1]) for t in (keys, values)]
    scores = scaled_scores(queries, shared[0])
    if bias is not None:
        scores = scores + bias[:, past:]
    mask = causal_mask(new, past + new)
    return masked_softmax(scores, mask) @ shared[1], (keys, values)


@wrong(
    check="cached-attention",
    section=CACHE,
    sentence="there is no mask, so the first tokens of a piece look at the later ones. "
    "A single new token needs none; a prompt does.",
)
def cached_attention(queries, keys, values, kept=None, bias=None):
    past, new = kept[0].shape[2] if kept else 0, queries.shape[2]
    places = torch.arange(past, past + new)
    queries, keys = rotate(queries, places), rotate(keys, places)
    if kept:
        keys = torch.cat([kept[0], keys], dim=2)
        values = torch.cat([kept[1], values], dim=2)
    shared = [share_heads(t, queries.shape[1]) for t in (keys, values)]
    scores = scaled_scores(queries, shared[0])
    if bias is not None:
        scores = scores + bias[:, past:]
    return torch.softmax(scores, dim=-1) @ shared[1], (keys, values)


@wrong(
    check="cached-attention",
    section=CACHE,
    sentence="the mask is the upper left of the triangle, as if the new tokens were "
    "the first. Then they do not even see all that was kept: they are the last rows.",
)
def cached_attention(queries, keys, values, kept=None, bias=None):
    past, new = kept[0].shape[2] if kept else 0, queries.shape[2]
    places = torch.arange(past, past + new)
    queries, keys = rotate(queries, places), rotate(keys, places)
    if kept:
        keys = torch.cat([kept[0], keys], dim=2)
        values = torch.cat([kept[1], values], dim=2)
    shared = [share_heads(t, queries.shape[1]) for t in (keys, values)]
    scores = scaled_scores(queries, shared[0])
    if bias is not None:
        scores = scores + bias[:, past:]
    mask = torch.ones(new, past + new).tril().bool()
    return masked_softmax(scores, mask) @ shared[1], (keys, values)


@wrong(
    check="cached-attention",
    section=CACHE,
    sentence="nothing is appended: the new tokens see only themselves, and all that "
    "was read before is forgotten.",
)
def cached_attention(queries, keys, values, kept=None, bias=None):
    past, new = kept[0].shape[2] if kept else 0, queries.shape[2]
    places = torch.arange(past, past + new)
    queries, keys = rotate(queries, places), rotate(keys, places)
    shared = [share_heads(t, queries.shape[1]) for t in (keys, values)]
    scores = scaled_scores(queries, shared[0])
    if bias is not None:
        scores = scores + bias[:, past:, past:]
    mask = causal_mask(new)
    return masked_softmax(scores, mask) @ shared[1], (keys, values)


@wrong(
    check="cached-attention",
    section=CACHE,
    sentence="the kept keys are used, but only the new ones are given back. With the "
    "third piece the first is lost.",
)
def cached_attention(queries, keys, values, kept=None, bias=None):
    past, new = kept[0].shape[2] if kept else 0, queries.shape[2]
    places = torch.arange(past, past + new)
    queries, keys = rotate(queries, places), rotate(keys, places)
    own = keys, values
    if kept:
        keys = torch.cat([kept[0], keys], dim=2)
        values = torch.cat([kept[1], values], dim=2)
    shared = [share_heads(t, queries.shape[1]) for t in (keys, values)]
    scores = scaled_scores(queries, shared[0])
    if bias is not None:
        scores = scores + bias[:, -new:, -past - new :]
    mask = causal_mask(new, past + new)
    return masked_softmax(scores, mask) @ shared[1], own


@wrong(
    check="cached-attention",
    section=CACHE,
    sentence="the new keys are put in front of the kept ones. The text goes on at its "
    "end: append.",
)
def cached_attention(queries, keys, values, kept=None, bias=None):
    past, new = kept[0].shape[2] if kept else 0, queries.shape[2]
    places = torch.arange(past, past + new)
    queries, keys = rotate(queries, places), rotate(keys, places)
    if kept:
        keys = torch.cat([keys, kept[0]], dim=2)
        values = torch.cat([values, kept[1]], dim=2)
    shared = [share_heads(t, queries.shape[1]) for t in (keys, values)]
    scores = scaled_scores(queries, shared[0])
    if bias is not None:
        scores = scores + bias[:, past:]
    mask = causal_mask(new, past + new)
    return masked_softmax(scores, mask) @ shared[1], (keys, values)


@wrong(
    check="cached-attention",
    section=CACHE,
    sentence="the rows of the bias are those of the first tokens. The new queries are "
    "the last: take the last rows.",
)
def cached_attention(queries, keys, values, kept=None, bias=None):
    past, new = kept[0].shape[2] if kept else 0, queries.shape[2]
    places = torch.arange(past, past + new)
    queries, keys = rotate(queries, places), rotate(keys, places)
    if kept:
        keys = torch.cat([kept[0], keys], dim=2)
        values = torch.cat([kept[1], values], dim=2)
    shared = [share_heads(t, queries.shape[1]) for t in (keys, values)]
    scores = scaled_scores(queries, shared[0])
    if bias is not None:
        scores = scores + bias[:, :new]
    mask = causal_mask(new, past + new)
    return masked_softmax(scores, mask) @ shared[1], (keys, values)


@wrong(
    check="cached-attention",
    section=CACHE,
    sentence="the bias is left out.",
)
def cached_attention(queries, keys, values, kept=None, bias=None):
    past, new = kept[0].shape[2] if kept else 0, queries.shape[2]
    places = torch.arange(past, past + new)
    queries, keys = rotate(queries, places), rotate(keys, places)
    if kept:
        keys = torch.cat([kept[0], keys], dim=2)
        values = torch.cat([kept[1], values], dim=2)
    shared = [share_heads(t, queries.shape[1]) for t in (keys, values)]
    scores = scaled_scores(queries, shared[0])
    mask = causal_mask(new, past + new)
    return masked_softmax(scores, mask) @ shared[1], (keys, values)


@wrong(
    check="cached-attention",
    section=HEADS,
    sentence="the repeated heads are kept. Then shared heads save nothing: keep what "
    "came, and repeat it when it is used.",
)
def cached_attention(queries, keys, values, kept=None, bias=None):
    past, new = kept[0].shape[2] if kept else 0, queries.shape[2]
    places = torch.arange(past, past + new)
    queries, keys = rotate(queries, places), rotate(keys, places)
    keys, values = (share_heads(t, queries.shape[1]) for t in (keys, values))
    if kept:
        keys = torch.cat([kept[0], keys], dim=2)
        values = torch.cat([kept[1], values], dim=2)
    scores = scaled_scores(queries, keys)
    if bias is not None:
        scores = scores + bias[:, past:]
    mask = causal_mask(new, past + new)
    return masked_softmax(scores, mask) @ values, (keys, values)


@wrong(
    check="cached-attention",
    section=HEADS,
    sentence="the key heads are repeated one after the other, 1 2 1 2. Neighbours "
    "share a head: 1 1 2 2.",
)
def cached_attention(queries, keys, values, kept=None, bias=None):
    past, new = kept[0].shape[2] if kept else 0, queries.shape[2]
    places = torch.arange(past, past + new)
    queries, keys = rotate(queries, places), rotate(keys, places)
    if kept:
        keys = torch.cat([kept[0], keys], dim=2)
        values = torch.cat([kept[1], values], dim=2)
    times = queries.shape[1] // keys.shape[1]
    shared = [t.repeat(1, times, 1, 1) for t in (keys, values)]
    scores = scaled_scores(queries, shared[0])
    if bias is not None:
        scores = scores + bias[:, past:]
    mask = causal_mask(new, past + new)
    return masked_softmax(scores, mask) @ shared[1], (keys, values)


@wrong(
    check="cached-attention",
    section=CACHE,
    sentence="the scores are not divided by the square root of d_head.",
)
def cached_attention(queries, keys, values, kept=None, bias=None):
    past, new = kept[0].shape[2] if kept else 0, queries.shape[2]
    places = torch.arange(past, past + new)
    queries, keys = rotate(queries, places), rotate(keys, places)
    if kept:
        keys = torch.cat([kept[0], keys], dim=2)
        values = torch.cat([kept[1], values], dim=2)
    shared = [share_heads(t, queries.shape[1]) for t in (keys, values)]
    scores = queries @ shared[0].transpose(-2, -1)
    if bias is not None:
        scores = scores + bias[:, past:]
    mask = causal_mask(new, past + new)
    return masked_softmax(scores, mask) @ shared[1], (keys, values)


@wrong(
    check="cached-attention",
    section=CACHE,
    sentence="the values are turned as well. Only what is compared is turned, queries "
    "and keys.",
)
def cached_attention(queries, keys, values, kept=None, bias=None):
    past, new = kept[0].shape[2] if kept else 0, queries.shape[2]
    places = torch.arange(past, past + new)
    queries, keys, values = (rotate(t, places) for t in (queries, keys, values))
    if kept:
        keys = torch.cat([kept[0], keys], dim=2)
        values = torch.cat([kept[1], values], dim=2)
    shared = [share_heads(t, queries.shape[1]) for t in (keys, values)]
    scores = scaled_scores(queries, shared[0])
    if bias is not None:
        scores = scores + bias[:, past:]
    mask = causal_mask(new, past + new)
    return masked_softmax(scores, mask) @ shared[1], (keys, values)


# --- beams --------------------------------------------------------------------------


@wrong(
    check="next-beams",
    section=BEAMS,
    sentence="probabilities are added instead of their logarithms. The probability of "
    "a text is a product, and the logarithm of a product is a sum of logarithms.",
)
def next_beams(scores, logits, count):
    total = scores[:, None] + torch.softmax(logits, dim=-1)
    best, places = total.flatten().topk(count)
    return best, places // logits.shape[-1], places % logits.shape[-1]


@wrong(
    check="next-beams",
    section=BEAMS,
    sentence="raw logits are added. They are no logarithms of probabilities until "
    "log_softmax makes them so, and each row may have another shift.",
)
def next_beams(scores, logits, count):
    total = scores[:, None] + logits
    best, places = total.flatten().topk(count)
    return best, places // logits.shape[-1], places % logits.shape[-1]


@wrong(
    check="next-beams",
    section=BEAMS,
    sentence="what the texts have been so far is forgotten: add their scores.",
)
def next_beams(scores, logits, count):
    total = torch.log_softmax(logits, dim=-1)
    best, places = total.flatten().topk(count)
    return best, places // logits.shape[-1], places % logits.shape[-1]


@wrong(
    check="next-beams",
    section=BEAMS,
    sentence="the old score is multiplied by the new logarithm. Logarithms are added.",
)
def next_beams(scores, logits, count):
    total = scores[:, None] * torch.log_softmax(logits, dim=-1)
    best, places = total.flatten().topk(count)
    return best, places // logits.shape[-1], places % logits.shape[-1]


@wrong(
    check="next-beams",
    section=BEAMS,
    sentence="each beam goes on with its own best token, so a bad beam keeps its "
    "place. All ways of all beams compete.",
)
def next_beams(scores, logits, count):
    total = scores[:, None] + torch.log_softmax(logits, dim=-1)
    best, chosen = total.topk(min(count, logits.shape[-1]), dim=-1)
    rows = torch.arange(len(scores))[:, None].expand(chosen.shape)
    flat = [t.T.flatten()[:count] for t in (best, rows, chosen)]
    return flat[0], flat[1], flat[2]


@wrong(
    check="next-beams",
    section=BEAMS,
    sentence="beam and token have changed places: the beam is the place divided by the "
    "number of tokens, the token is the remainder.",
)
def next_beams(scores, logits, count):
    total = scores[:, None] + torch.log_softmax(logits, dim=-1)
    best, places = total.flatten().topk(count)
    return best, places % logits.shape[-1], places // logits.shape[-1]


@wrong(
    check="next-beams",
    section=BEAMS,
    sentence="the place is divided by the number of beams. A row of the table has as "
    "many columns as there are tokens.",
)
def next_beams(scores, logits, count):
    total = scores[:, None] + torch.log_softmax(logits, dim=-1)
    best, places = total.flatten().topk(count)
    return best, places // len(scores), places % len(scores)


@wrong(
    check="next-beams",
    section=BEAMS,
    sentence="the softmax runs over all beams together. Each row is a distribution of "
    "its own.",
)
def next_beams(scores, logits, count):
    steps = torch.log_softmax(logits.flatten(), dim=0).reshape(logits.shape)
    best, places = (scores[:, None] + steps).flatten().topk(count)
    return best, places // logits.shape[-1], places % logits.shape[-1]


@wrong(
    check="next-beams",
    section=BEAMS,
    sentence="probabilities are given back where their logarithms are asked for.",
)
def next_beams(scores, logits, count):
    total = scores[:, None] + torch.log_softmax(logits, dim=-1)
    best, places = total.flatten().topk(count)
    return best.exp(), places // logits.shape[-1], places % logits.shape[-1]


@wrong(
    check="next-beams",
    section=BEAMS,
    seen="graded",
    sentence="probabilities are multiplied. For a long text the product becomes 0 in "
    "the computer, and all ways look alike: add logarithms.",
)
def next_beams(scores, logits, count):
    total = scores.exp()[:, None] * torch.softmax(logits, dim=-1)
    best, places = total.flatten().topk(count)
    return best.log(), places // logits.shape[-1], places % logits.shape[-1]


@wrong(
    check="text-score",
    section=BEAMS,
    sentence="it is multiplied by the length, so long texts are punished twice. "
    "Divide.",
)
def text_score(log_probability, length, penalty):
    return log_probability * length**penalty


@wrong(
    check="text-score",
    section=BEAMS,
    sentence="it is divided by length times penalty. The penalty is a power.",
)
def text_score(log_probability, length, penalty):
    return log_probability / (length * penalty)


@wrong(
    check="text-score",
    section=BEAMS,
    sentence="the penalty is subtracted for each token. Divide by a power of the "
    "length.",
)
def text_score(log_probability, length, penalty):
    return log_probability - penalty * length


@wrong(
    check="text-score",
    section=BEAMS,
    sentence="it is divided by the logarithm of a power. Take the power itself.",
)
def text_score(log_probability, length, penalty):
    return log_probability / (1 + penalty * math.log(length))


wrong_choice(
    "nucleus",
    check="concept-nucleus",
    section=TOP_P,
    a="p is not a number of tokens, nor a share of them. Had there been other "
    "probabilities, another number of tokens would stay.",
    c="it is the sum of the probabilities that must reach p, not each of them.",
    d="the set must reach at least 0.8; the first two have 0.7.",
)
wrong_choice(
    "why_exact",
    check="concept-exact",
    section=CACHE,
    a="an encoder has them as well. But there each token also sees the later ones, so "
    "every vector changes when a token comes.",
    b="the number of layers has nothing to do with it.",
    d="what is kept is exact, if nobody sees the future. In an encoder it would be "
    "wrong, not inexact.",
)
wrong_choice(
    "cache_size",
    check="concept-cache-size",
    section=HEADS,
    b="they are repeated when they are used; what is kept is not repeated.",
    c="keys and values are shared alike.",
    d="8 of 32 are kept, a quarter. Three quarters are saved.",
)
wrong_choice(
    "first_token",
    check="concept-first-token",
    section=TIME,
    a="with a cache, each further token reads itself only. It looks at ten times as "
    "many keys, but that is a small part of the work.",
    b="the last token is one like all others after the first.",
    c="before the first token nothing is in the cache: the prompt must be read.",
)
