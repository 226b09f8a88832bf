"""Right answers to chapter 13 that are written in other ways than the reference."""

import math

import torch
import torch.nn.functional as F

from exercises.answers import right
from solutions.multi_head import share_heads
from solutions.positions import rotate


@right("a one-hot row, and its logarithm")
def with_temperature(logits, temperature):
    if temperature < 0:
        raise ValueError("below 0")
    if temperature == 0.0:
        best = logits.argmax(-1)
        return F.one_hot(best, logits.shape[-1]).to(logits.dtype).log()
    return logits * (1 / temperature)


@right("everything but the best masked with a very low number")
def with_temperature(logits, temperature):
    if temperature < 0:
        raise ValueError(temperature)
    if temperature > 0:
        return torch.div(logits, temperature)
    places = torch.arange(logits.shape[-1], device=logits.device)
    is_best = places == logits.argmax(dim=-1, keepdim=True)
    return logits.masked_fill(~is_best, torch.finfo(logits.dtype).min)


@right("a mask of the kept places")
def top_k(logits, k):
    if k <= 0:
        raise ValueError("at least one")
    places = logits.topk(min(k, logits.size(-1))).indices
    keep = torch.zeros_like(logits, dtype=torch.bool).scatter_(-1, places, True)
    return torch.where(keep, logits, -math.inf)


@right("row by row, sorted")
def top_k(logits, k):
    if k < 1:
        raise ValueError("k")
    rows = []
    for row in logits:
        order = row.argsort(descending=True)
        kept = row.clone()
        kept[order[k:]] = float("-inf")
        rows.append(kept)
    return torch.stack(rows)


@right("ranks: the argsort of an argsort")
def top_k(logits, k):
    if k < 1:
        raise ValueError("k")
    ranks = logits.argsort(dim=-1, descending=True).argsort(dim=-1)
    return logits.masked_fill(ranks >= k, -torch.inf)


@right("a loop that stops when p is reached")
def top_p(logits, p):
    if p <= 0 or p > 1:
        raise ValueError("p")
    result = torch.full_like(logits, -torch.inf)
    for row, shares in enumerate(torch.softmax(logits, dim=-1)):
        total = 0.0
        for token in shares.argsort(descending=True):
            result[row, token] = logits[row, token]
            total += shares[token].item()
            if total >= p - 1e-7:
                break
    return result


@right("the sums moved one place to the right")
def top_p(logits, p):
    if not (0.0 < p <= 1.0):
        raise ValueError("p")
    ordered, places = torch.sort(logits, descending=True, dim=-1)
    reached = torch.softmax(ordered, dim=-1).cumsum(dim=-1) >= p
    drop = reached.clone()
    drop[:, 1:] = reached[:, :-1]
    drop[:, 0] = False
    mask = torch.empty_like(drop).scatter(-1, places, drop)
    return logits.masked_fill(mask, -torch.inf)


@right("sorted upwards: drop from the bottom what is not needed")
def top_p(logits, p):
    if p <= 0 or p > 1:
        raise ValueError("p")
    ordered, places = torch.sort(logits, dim=-1)
    sums = ordered.double().softmax(dim=-1).cumsum(dim=-1)
    drop = sums <= 1 - p
    drop[:, -1] = False
    return logits.masked_fill(drop.scatter(-1, places, drop), float("-inf"))


@right("counted, and the places sorted back by their inverse")
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError("p")
    shares = torch.softmax(logits.double(), dim=-1)
    order = shares.argsort(dim=-1, descending=True)
    sums = shares.gather(-1, order).cumsum(dim=-1)
    count = (sums < p - 1e-9).sum(dim=-1, keepdim=True) + 1
    ranks = order.argsort(dim=-1)
    return torch.where(ranks < count, logits, torch.tensor(-torch.inf).to(logits))


@right("a mask of what occurs")
def less_repetition(logits, written, penalty):
    occurs = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, written, True)
    lower = torch.where(logits < 0, logits * penalty, logits / penalty)
    return torch.where(occurs, lower, logits)


@right("each different token of each text once")
def less_repetition(logits, written, penalty):
    result = logits.clone()
    for row in range(len(result)):
        for token in set(written[row].tolist()):
            if result[row, token] > 0:
                result[row, token] /= penalty
            else:
                result[row, token] *= penalty
    return result


@right("a factor for each token")
def less_repetition(logits, written, penalty):
    factor = torch.where(logits > 0, 1.0 / penalty, penalty).to(logits.dtype)
    ones = torch.ones_like(logits)
    occurs = F.one_hot(written, logits.shape[-1]).sum(dim=1) > 0
    return logits * torch.where(occurs, factor, ones)


@right("Gumbel noise, and the largest")
def sample(logits, generator=None):
    noise = torch.rand(logits.shape, generator=generator, dtype=torch.float64)
    return (logits - (-noise.log()).log()).argmax(dim=-1)


@right("exponential races")
def sample(logits, generator=None):
    shares = torch.softmax(logits, dim=-1)
    race = torch.empty_like(shares).exponential_(generator=generator)
    return (shares / race).argmax(dim=-1)


@right("a number between 0 and 1 looked up in the sums")
def sample(logits, generator=None):
    sums = torch.softmax(logits.double(), dim=-1).cumsum(dim=-1)
    number = torch.rand(len(logits), 1, generator=generator, dtype=torch.float64)
    number = number * sums[:, -1:]
    return torch.searchsorted(sums, number, right=True)[:, 0]


@right("tensors filled from the right")
def pad_left(texts, pad_id):
    shape = len(texts), max(len(text) for text in texts)
    tokens = torch.full(shape, pad_id)
    real = torch.zeros(shape, dtype=torch.bool)
    for row, text in enumerate(texts):
        tokens[row, shape[1] - len(text) :] = torch.tensor(text)
        real[row, shape[1] - len(text) :] = True
    return tokens, real


@right("PyTorch's padding, turned round twice")
def pad_left(texts, pad_id):
    backwards = [torch.tensor(text).flip(0) for text in texts]
    options = {"batch_first": True, "padding_value": pad_id}
    tokens = torch.nn.utils.rnn.pad_sequence(backwards, **options).flip(1)
    lengths = torch.tensor([len(text) for text in texts])
    columns = torch.arange(tokens.shape[1])
    return tokens, columns >= tokens.shape[1] - lengths[:, None]


@right("the first real column subtracted")
def real_places(real):
    first = real.long().argmax(dim=-1, keepdim=True)
    return (torch.arange(real.shape[-1]) - first).clamp(min=0)


@right("filling at position 1, as in the transformers library")
def real_places(real):
    return (real.int().cumsum(-1) - 1).masked_fill(~real, 1)


@right("PyTorch's attention, with a mask made of distances")
def cached_attention(queries, keys, values, kept=None, bias=None):
    past = 0 if kept is None else kept[0].size(2)
    new = queries.size(2)
    spots = past + torch.arange(new)
    queries, keys = rotate(queries, spots), rotate(keys, spots)
    if kept is not None:
        keys = torch.cat((kept[0], keys), -2)
        values = torch.cat((kept[1], values), -2)
    allowed = torch.arange(past + new)[None, :] <= spots[:, None]
    mask = torch.zeros(new, past + new, dtype=queries.dtype)
    mask = mask.masked_fill(~allowed, -math.inf)
    if bias is not None:
        mask = mask + bias[:, -new:]
    found = F.scaled_dot_product_attention(
        queries, keys, values, attn_mask=mask, enable_gqa=True
    )
    return found, (keys, values)


@right("one query after the other, each with what it may see")
def cached_attention(queries, keys, values, kept=None, bias=None):
    past = kept[0].shape[2] if kept else 0
    new, heads = queries.shape[2], queries.shape[1]
    places = torch.arange(past, past + new)
    queries, keys = rotate(queries, places), rotate(keys, places)
    if kept:
        keys = torch.cat([kept[0], keys], dim=2)
        values = torch.cat([kept[1], values], dim=2)
    found = []
    for i in range(new):
        seen = past + i + 1
        now_keys = share_heads(keys[:, :, :seen], heads)
        now_values = share_heads(values[:, :, :seen], heads)
        scores = (now_keys * queries[:, :, i : i + 1]).sum(-1) / keys.shape[-1] ** 0.5
        if bias is not None:
            scores = scores + bias[:, past + i, :seen]
        weights = torch.softmax(scores, dim=-1)
        found.append((weights[..., None] * now_values).sum(dim=2))
    return torch.stack(found, dim=2), [keys, values]


@right("einsum over groups of queries, without repeating the keys")
def cached_attention(queries, keys, values, kept=None, bias=None):
    past = kept[0].shape[2] if kept else 0
    batch, heads, new, d_head = queries.shape
    places = torch.arange(past, past + new)
    queries, keys = rotate(queries, places), rotate(keys, places)
    if kept:
        keys = torch.cat([kept[0], keys], dim=2)
        values = torch.cat([kept[1], values], dim=2)
    groups = keys.shape[1]
    grouped = queries.reshape(batch, groups, heads // groups, new, d_head)
    scores = torch.einsum("bghqd,bgkd->bghqk", grouped, keys) / math.sqrt(d_head)
    if bias is not None:
        rows = bias[:, past : past + new]
        scores = scores + rows.unflatten(0, (groups, heads // groups))
    future = torch.ones(new, past + new, dtype=torch.bool).triu(past + 1)
    weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
    found = torch.einsum("bghqk,bgkd->bghqd", weights, values)
    return found.reshape(batch, heads, new, d_head), (keys, values)


@right("sorted as a list")
def next_beams(scores, logits, count):
    total = torch.log_softmax(logits, dim=-1) + scores.unsqueeze(1)
    ways = [
        (total[beam, token].item(), beam, token)
        for beam in range(total.shape[0])
        for token in range(total.shape[1])
    ]
    best = sorted(ways, key=lambda way: -way[0])[:count]
    values, rows, tokens = zip(*best, strict=True)
    return torch.tensor(values), torch.tensor(rows), torch.tensor(tokens)


@right("unravelled places, sorted")
def next_beams(scores, logits, count):
    total = logits - logits.logsumexp(dim=1, keepdim=True) + scores[:, None]
    order = total.flatten().argsort(descending=True)[:count]
    rows, tokens = torch.unravel_index(order, total.shape)
    return total[rows, tokens], rows, tokens


@right("the best of each beam first, then the best of those")
def next_beams(scores, logits, count):
    steps = F.log_softmax(logits, dim=-1)
    few = min(count, logits.shape[-1])
    values, tokens = (scores[:, None] + steps).topk(few, dim=-1)
    best, places = values.flatten().topk(count)
    return best, places // few, tokens.flatten()[places]


@right("through exponentials")
def text_score(log_probability, length, penalty):
    return log_probability * math.exp(-penalty * math.log(length))


@right("pow")
def text_score(log_probability, length, penalty):
    return log_probability / math.pow(length, penalty)
