"""Right answers to chapter 14 written differently: each must get full marks."""

import math

import torch
import torch.nn.functional as F

from exercises.answers import right
from solutions.positions import t5_buckets


@right("token by token")
def span_corruption(tokens, spans, sentinels):
    if len(sentinels) < len(spans) + 1:
        raise ValueError("too few sentinels")
    owner = {}
    for number, (start, length) in enumerate(spans):
        for place in range(start, start + length):
            owner[place] = number
    inputs, targets = [], []
    for place, token in enumerate(tokens):
        if place not in owner:
            inputs.append(token)
            continue
        name = sentinels[owner[place]]
        if place == spans[owner[place]][0]:
            inputs.append(name)
            targets.append(name)
        targets.append(token)
    return inputs, [*targets, sentinels[len(spans)]]


@right("from behind, replacing slices")
def span_corruption(tokens, spans, sentinels):
    if len(spans) >= len(sentinels):
        raise ValueError("one sentinel for each span, and one for the end")
    inputs, parts = list(tokens), []
    for number in reversed(range(len(spans))):
        start, length = spans[number]
        parts = [sentinels[number], *inputs[start : start + length], *parts]
        inputs[start : start + length] = [sentinels[number]]
    parts.append(sentinels[len(spans)])
    return inputs, parts


@right("a search in the answer for each sentinel")
def put_back(inputs, answer, sentinels):
    restored = []
    for token in inputs:
        if token not in sentinels:
            restored.append(token)
            continue
        places = [i for i, other in enumerate(answer) if other == token]
        for place in places:
            place += 1
            while place < len(answer) and answer[place] not in sentinels:
                restored.append(answer[place])
                place += 1
    return restored


@right("a dictionary with a list for every sentinel of the input")
def put_back(inputs, answer, sentinels):
    spans = {name: [] for name in sentinels}
    current = []
    for token in answer:
        if token in spans:
            current = spans[token]
        else:
            current.append(token)
    restored = []
    for token in inputs:
        restored.extend(spans.get(token, [token]))
    return restored


@right("distances of the last queries alone, and F.embedding")
def t5_decoder_bias(table, query_len, key_len, max_distance=128):
    queries = torch.arange(key_len - query_len, key_len)
    behind = queries[:, None] - torch.arange(key_len)
    buckets = t5_buckets(-behind, table.shape[0], max_distance, False)
    bias = torch.einsum("qkh->hqk", F.embedding(buckets, table))
    return torch.where(behind >= 0, bias, -math.inf)


@right("all rows, a wall of numbers that is added, and the last rows in the end")
def t5_decoder_bias(table, query_len, key_len, max_distance=128):
    places = torch.arange(key_len)
    distances = places[None, :] - places[:, None]
    buckets = t5_buckets(
        distances, len(table), max_distance=max_distance, both_ways=False
    )
    wall = torch.full((key_len, key_len), -math.inf, dtype=table.dtype).triu(1)
    heads = [column[buckets] + wall for column in table.T]
    return torch.stack(heads)[:, key_len - query_len :]


@right("head by head and place by place")
def t5_decoder_bias(table, query_len, key_len, max_distance=128):
    rows = []
    for place in range(key_len - query_len, key_len):
        back = torch.arange(-place, 1)
        seen = table[t5_buckets(back, len(table), max_distance, both_ways=False)]
        rows.append(F.pad(seen.T, (0, key_len - 1 - place), value=-math.inf))
    return torch.stack(rows, dim=1)


@right("scaled_dot_product_attention with a scale of 1")
def t5_decoder(x, memory, layers, bias):
    attend = F.scaled_dot_product_attention
    for m in layers:
        mine = attend(x @ m["W_q"], x @ m["W_k"], x @ m["W_v"], bias, scale=1.0)
        x = mine @ m["W_o"] + x
        keys, values = memory @ m["C_k"], memory @ m["C_v"]
        x = x + attend(x @ m["C_q"], keys, values, scale=1) @ m["C_o"]
    return x


@right("einsum, and one function for both kinds")
def t5_decoder(x, memory, layers, bias):
    def look(from_x, at, kind, layer, more):
        q, k, v = (
            torch.einsum("bsd,de->bse", side, layer[f"{kind}_{name}"])
            for side, name in ((from_x, "q"), (at, "k"), (at, "v"))
        )
        scores = torch.einsum("bqe,bke->bqk", q, k) + more
        shares = scores.softmax(-1)
        found = torch.einsum("bqk,bke->bqe", shares, v)
        return torch.einsum("bqe,ed->bqd", found, layer[f"{kind}_o"])

    for layer in layers:
        x = x + look(x, x, "W", layer, bias)
        x = x + look(x, memory, "C", layer, 0.0)
    return x


@right("sentence by sentence")
def t5_decoder(x, memory, layers, bias):
    results = []
    for row, source in zip(x, memory, strict=True):
        for m in layers:
            scores = row @ m["W_q"] @ m["W_k"].T @ row.T + bias
            row = row + torch.softmax(scores, 1) @ row @ m["W_v"] @ m["W_o"]
            scores = row @ m["C_q"] @ (source @ m["C_k"]).T
            row = row + torch.softmax(scores, 1) @ source @ m["C_v"] @ m["C_o"]
        results.append(row)
    return torch.stack(results)


@right("the scores divided afterwards")
def t5_logits(x, table):
    return F.linear(x, table) / math.sqrt(table.shape[1])


@right("einsum, the table made smaller")
def t5_logits(x, table):
    return torch.einsum("...d,vd->...v", x, table / table.shape[1] ** 0.5)


@right("a loop with an index")
def mask_some(tokens, chosen, mask_id):
    spoilt = list(tokens)
    for place in range(len(chosen)):
        if chosen[place]:
            spoilt[place] = mask_id
    return spoilt


@right("itertools-like, with a filter")
def delete_some(tokens, chosen):
    return [tokens[i] for i in range(len(tokens)) if chosen[i] is False]


@right("deleted from behind")
def delete_some(tokens, chosen):
    left = list(tokens)
    for place in reversed(range(len(left))):
        if chosen[place]:
            del left[place]
    return left


@right("slices replaced from behind")
def infill(tokens, spans, mask_id):
    spoilt = list(tokens)
    for start, length in spans[::-1]:
        spoilt[start : start + length] = [mask_id]
    return spoilt


@right("token by token, with what is hidden and where masks stand")
def infill(tokens, spans, mask_id):
    hidden = {p for start, length in spans for p in range(start, start + length)}
    starts = [start for start, _ in spans]
    spoilt = []
    for place in range(len(tokens) + 1):
        spoilt += [mask_id] * starts.count(place)
        if place < len(tokens) and place not in hidden:
            spoilt.append(tokens[place])
    return spoilt


@right("two loops over indices")
def permute_sentences(sentences, order):
    document = []
    for i in range(len(order)):
        for j in range(len(sentences[order[i]])):
            document.append(sentences[order[i]][j])
    return document


@right("extended one by one")
def permute_sentences(sentences, order):
    document = []
    for place in order:
        document.extend(sentences[place])
    return document


@right("by the remainder")
def rotate_document(tokens, start):
    return [tokens[(start + i) % len(tokens)] for i in range(len(tokens))]


@right("concatenated")
def shift_right(targets, begin_id, pad_id):
    begin = torch.full_like(targets[:, :1], begin_id)
    before = torch.where(targets == -100, pad_id, targets)[:, :-1]
    return torch.cat([begin, before], dim=1)


@right("a new tensor filled in two steps")
def shift_right(targets, begin_id, pad_id):
    shifted = targets.new_empty(targets.shape)
    shifted[:, 1:] = targets[:, :-1]
    shifted[:, 0] = begin_id
    shifted[shifted == -100] = pad_id
    return shifted


@right("padded with F.pad")
def shift_right(targets, begin_id, pad_id):
    filled = targets.masked_fill(targets.eq(-100), pad_id)
    return F.pad(filled, (1, 0), value=begin_id)[:, :-1]


@right("F.embedding, and the norm by hand")
def bart_embeddings(tokens, table, positions, gain, bias):
    places = torch.arange(tokens.shape[-1]) + 2
    x = F.embedding(tokens, table) + F.embedding(places, positions)
    centred = x - x.mean(-1, keepdim=True)
    variance = centred.pow(2).mean(-1, keepdim=True)
    return centred / torch.sqrt(variance + 1e-5) * gain + bias


@right("row by row")
def bart_embeddings(tokens, table, positions, gain, bias):
    rows = []
    for row in tokens:
        x = torch.stack([table[t] + positions[i + 2] for i, t in enumerate(row)])
        rows.append(F.layer_norm(x, gain.shape, gain, bias))
    return torch.stack(rows)


@right("inserted and appended, in copies")
def with_languages(source, target, spoken, wanted, end_id):
    sides = []
    for text, language in ((source, spoken), (target, wanted)):
        side = list(text)
        side.insert(0, language)
        side.append(end_id)
        sides.append(side)
    return tuple(sides)


@right("row by row, counting in plain Python")
def real_places(tokens, pad_id, past=0):
    rows = []
    for row in tokens.tolist():
        count, places = past, []
        for token in row:
            count += token != pad_id
            places.append(pad_id + count if token != pad_id else pad_id)
        rows.append(places)
    return torch.tensor(rows)


@right("torch.where")
def real_places(tokens, pad_id, past=0):
    counted = torch.cumsum(tokens.ne(pad_id).int(), 1) + (past + pad_id)
    return torch.where(tokens.eq(pad_id), pad_id, counted)


@right("lists without sets, drawn until they are new")
def bigbird_blocks(num_blocks, num_random, generator=None):
    if num_blocks < 5 + 2 * num_random:
        raise ValueError("too few blocks")
    rows = []
    for i in range(1, num_blocks - 1):
        row = []
        for block in (0, i - 1, i, i + 1, num_blocks - 1):
            if block not in row:
                row.append(block)
        wanted = len(row) + num_random
        while len(row) < wanted:
            if generator is None:
                row.append(0)
                continue
            block = int(torch.randint(num_blocks, (1,), generator=generator))
            if block not in row:
                row.append(block)
        rows.append(row)
    return rows


@right("torch.multinomial over a mask")
def bigbird_blocks(num_blocks, num_random, generator=None):
    if num_blocks - 2 * num_random < 5:
        raise ValueError(f"{num_blocks} blocks are too few for {num_random}.")
    rows = []
    for i in range(1, num_blocks - 1):
        near = {0, i - 1, i, i + 1, num_blocks - 1}
        drawn = [0] * num_random
        if generator is not None and num_random:
            free = torch.ones(num_blocks)
            free[list(near)] = 0
            drawn = torch.multinomial(free, num_random, generator=generator).tolist()
        rows.append([*drawn, *near])
    return rows


@right("a loop over the blocks")
def block_sparse_attention(queries, keys, values, rows, real):
    count = len(rows) + 2
    size = queries.shape[2] // count
    everything = list(range(count))
    found = []
    for i, row in enumerate([everything, *rows, everything]):
        places = torch.cat([torch.arange(b * size, (b + 1) * size) for b in row])
        mine = queries[:, :, i * size : (i + 1) * size]
        scores = mine @ keys[:, :, places].transpose(-1, -2)
        hidden = ~real[:, places][:, None, None, :]
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        found.append(scores.softmax(-1) @ values[:, :, places])
    return torch.cat(found, dim=2)


@right("dense, with the logarithm of the counts: right, but not sparse")
def block_sparse_attention(queries, keys, values, rows, real):
    count = len(rows) + 2
    times = torch.ones(count, count, dtype=queries.dtype, device=queries.device)
    for i, row in enumerate(rows):
        for block in range(count):
            times[i + 1, block] = row.count(block)
    size = queries.shape[2] // count
    times = torch.kron(times, times.new_ones(size, size))
    bias = times.log() + torch.where(real, 0.0, -1e30)[:, None, None, :]
    return F.scaled_dot_product_attention(queries, keys, values, bias, scale=1.0)


@right("weights by hand: exponentials times counts")
def block_sparse_attention(queries, keys, values, rows, real):
    count = len(rows) + 2
    size = queries.shape[2] // count
    times = torch.ones(count, count, dtype=queries.dtype, device=queries.device)
    for i, row in enumerate(rows):
        times[i + 1] = torch.bincount(torch.tensor(row), minlength=count)
    times = times.repeat_interleave(size, 0).repeat_interleave(size, 1)
    times = times * (real[:, None, None, :] + 1e-30)
    scores = torch.einsum("bhqd,bhkd->bhqk", queries, keys)
    seen = scores.masked_fill(times < 0.5, -1e30)
    top = seen.amax(-1, keepdim=True).clamp(min=-1e29)
    weights = times * (seen - top).exp() + 1e-38 * (times > 0)
    return weights / weights.sum(-1, keepdim=True) @ values
