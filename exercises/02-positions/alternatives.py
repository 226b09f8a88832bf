"""Right answers to chapter 02 written differently: each must get full marks."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from exercises.answers import right


@right("number by number")
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    table = torch.zeros(seq_len, d_model)
    for place in range(seq_len):
        for column in range(d_model):
            angle = place / base ** (2 * (column // 2) / d_model)
            table[place, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return table


@right("filled in two strides, the cosines cut")
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    table = torch.empty(seq_len, d_model)
    places = torch.arange(seq_len).unsqueeze(1)
    speeds = torch.exp(torch.arange(0, d_model, 2) * (-math.log(base) / d_model))
    table[:, 0::2] = torch.sin(places * speeds)
    table[:, 1::2] = torch.cos(places * speeds[: d_model // 2])
    return table


@right("complex numbers on the unit circle, in double precision")
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    speeds = base ** (-torch.arange(0, d_model, 2).double() / d_model)
    angles = torch.outer(torch.arange(seq_len).double(), speeds)
    turns = torch.view_as_real(torch.polar(torch.ones_like(angles), angles))
    return turns.flip(-1).reshape(seq_len, -1)[:, :d_model].float()


@right("a cosine is a sine a quarter turn on")
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    columns = torch.arange(d_model)
    speeds = base ** (-(columns - columns % 2).double() / d_model)
    angles = torch.arange(seq_len)[:, None] * speeds
    return torch.sin(angles + (columns % 2) * math.pi / 2).float()


@right("a bare parameter")
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

    def forward(self, x):
        batch, seq, _ = x.shape
        if seq > self.table.shape[0]:
            raise ValueError(f"{seq} tokens, and only {len(self.table)} positions")
        return self.table[:seq].unsqueeze(0).expand(batch, -1, -1) + x


@right("an embedding, its rows cut out of the weight")
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.max_len = max_len
        self.table = nn.Embedding(max_len, d_model)
        nn.init.normal_(self.table.weight, std=0.02)

    def forward(self, x):
        if x.size(1) > self.max_len:
            raise ValueError("The sentence is too long for the table.")
        return torch.add(x, self.table.weight[: x.size(1)])


@right("one-hot rows times the table")
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x):
        seq, rows = x.shape[1], self.table.num_embeddings
        if not seq <= rows:
            raise ValueError(seq)
        hot = F.one_hot(torch.arange(seq, device=x.device), rows).to(x.dtype)
        return x + hot @ self.table.weight


@right("lists of lists")
def relative_distances(query_len, key_len):
    return torch.tensor([[j - i for j in range(key_len)] for i in range(query_len)])


@right("each row is the one before, less one")
def relative_distances(query_len, key_len):
    rows = [torch.arange(-i, key_len - i) for i in range(query_len)]
    return torch.stack(rows)


@right("two loops")
def shaw_scores(queries, keys, table):
    most = len(table) // 2
    scores = queries.new_zeros(*queries.shape[:-1], keys.shape[-2])
    for i in range(queries.shape[-2]):
        for j in range(keys.shape[-2]):
            row = table[min(max(j - i, -most), most) + most]
            scores[..., i, j] = (queries[..., i, :] * (keys[..., j, :] + row)).sum(-1)
    return scores


@right("all distances scored once, then gathered")
def shaw_scores(queries, keys, table):
    most, (query_len, key_len) = len(table) // 2, (queries.shape[-2], keys.shape[-2])
    by_row = queries @ table.T
    steps = torch.arange(key_len) - torch.arange(query_len)[:, None]
    rows = (steps.clamp(-most, most) + most).to(queries.device)
    by_distance = by_row.gather(-1, rows.expand(*queries.shape[:-2], -1, -1))
    return queries @ keys.transpose(-1, -2) + by_distance


@right("keys moved first, one set for each query")
def shaw_scores(queries, keys, table):
    most = (table.shape[0] - 1) // 2
    places = torch.arange(max(queries.shape[-2], keys.shape[-2]), device=keys.device)
    steps = places[None, : keys.shape[-2]] - places[: queries.shape[-2], None]
    moved = keys.unsqueeze(-3) + table[steps.clip(-most, most) + most]
    return (queries.unsqueeze(-2) @ moved.transpose(-1, -2)).squeeze(-2)


@right("one distance at a time")
def t5_buckets(distances, num_buckets=32, max_distance=128, both_ways=True):
    n = num_buckets // 2 if both_ways else num_buckets
    half = n // 2

    def bucket(distance):
        size = abs(distance) if both_ways else max(0, -distance)
        offset = n if both_ways and distance > 0 else 0
        if size < half:
            return offset + size
        share = math.log(size / half) / math.log(max_distance / half)
        return offset + min(n - 1, half + math.floor(share * (n - half)))

    found = [bucket(distance) for distance in distances.flatten().tolist()]
    return torch.tensor(found, device=distances.device).reshape(distances.shape)


@right("borders counted")
def t5_buckets(distances, num_buckets=32, max_distance=128, both_ways=True):
    per_side = num_buckets // 2 if both_ways else num_buckets
    half = per_side // 2
    steps = torch.arange(
        1, per_side - half, dtype=torch.float64, device=distances.device
    )
    borders = half * (max_distance / half) ** (steps / (per_side - half))
    size = distances.abs() if both_ways else torch.relu(-distances)
    coarse = half + (size[..., None] >= borders).sum(-1)
    found = torch.where(size < half, size, coarse)
    return found + per_side * (distances > 0).long() if both_ways else found


@right("logarithms of base 2, selected by arithmetic")
def t5_buckets(distances, num_buckets=32, max_distance=128, both_ways=True):
    sides = 2 if both_ways else 1
    n = num_buckets // sides
    half = n // 2
    size = distances.abs() if both_ways else (-distances).clamp_min(0)
    steps = (size.clamp_min(half).double() / half).log2() / math.log2(
        max_distance / half
    )
    near = (size < half).long()
    coarse = (half + (steps * (n - half)).floor().long()).clamp_max(n - 1)
    offset = (distances > 0).long() * n * (sides - 1)
    return offset + near * size + (1 - near) * coarse


@right("a bare parameter, one head at a time")
class RelativeBias(nn.Module):
    def __init__(self, num_heads, num_buckets=32, max_distance=128, both_ways=True):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(num_buckets, num_heads))
        self.sizes = num_buckets, max_distance, both_ways

    def forward(self, query_len, key_len):
        places = torch.arange(query_len), torch.arange(key_len)
        buckets = t5_buckets(places[1][None] - places[0][:, None], *self.sizes)
        return torch.stack([column[buckets] for column in self.table.unbind(1)])


@right("the table looked up by F.embedding, moved by einsum")
class RelativeBias(nn.Module):
    def __init__(self, num_heads, num_buckets=32, max_distance=128, both_ways=True):
        super().__init__()
        self.table = nn.Embedding(num_buckets, num_heads)
        self.how = {"max_distance": max_distance, "both_ways": both_ways}

    def forward(self, query_len, key_len):
        weight = self.table.weight
        steps = relative_distances(query_len, key_len)
        buckets = t5_buckets(steps, weight.shape[0], **self.how).to(weight.device)
        return torch.einsum("qkh->hqk", F.embedding(buckets, weight))


@right("complex numbers")
def rotate(x, positions, base=10000.0):
    half, odd = divmod(x.shape[-1], 2)
    if odd:
        raise ValueError("an odd number of numbers cannot be paired")
    speeds = base ** (-torch.arange(half, device=x.device) / half)
    angles = positions.unsqueeze(-1) * speeds
    turn = torch.polar(torch.ones_like(angles), angles)
    turned = torch.complex(x[..., :half].float(), x[..., half:].float()) * turn
    return torch.cat([turned.real, turned.imag], -1).to(x.dtype)


@right("the half-turned vector, as in GPT-NeoX")
def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    if d % 2 == 1:
        raise ValueError(f"{d} is odd")
    speeds = 1.0 / (base ** (torch.arange(0, d, 2, device=x.device).float() / d))
    angles = positions[..., None].float() * speeds
    angles = torch.cat((angles, angles), dim=-1)
    half_turned = torch.cat((-x[..., d // 2 :], x[..., : d // 2]), dim=-1)
    return x * angles.cos().to(x.dtype) + half_turned * angles.sin().to(x.dtype)


@right("a matrix for each position, in double precision")
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("expected an even width")
    half = d // 2
    speeds = base ** (-torch.arange(half, dtype=torch.float64, device=x.device) / half)
    angles = positions[..., None] * speeds
    cos, sin = torch.diag_embed(angles.cos()), torch.diag_embed(angles.sin())
    top, bottom = torch.cat([cos, sin], -1), torch.cat([-sin, cos], -1)
    matrix = torch.cat([top, bottom], dim=-2)
    return (x.double().unsqueeze(-2) @ matrix).squeeze(-2).to(x.dtype)


@right("one pair at a time")
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("expected an even width")
    columns = [None] * d
    for i in range(d // 2):
        angle = positions * base ** (-2 * i / d)
        cos, sin = torch.cos(angle).to(x.dtype), torch.sin(angle).to(x.dtype)
        a, b = x[..., i], x[..., i + d // 2]
        columns[i], columns[i + d // 2] = a * cos - b * sin, a * sin + b * cos
    return torch.stack(columns, dim=-1)


@right("by recursion")
def tree_depths(heads):
    if sum(head < 0 for head in heads) != 1:
        raise ValueError("a tree has one root")

    def depth(word):
        return 0 if heads[word] < 0 else 1 + depth(heads[word])

    return [depth(word) for word in range(len(heads))]


@right("level by level from the root")
def tree_depths(heads):
    level = [word for word, head in enumerate(heads) if head == -1]
    if len(level) != 1:
        raise ValueError(f"{len(level)} roots")
    depths, depth = {}, 0
    while level:
        depths |= dict.fromkeys(level, depth)
        level = [word for word, head in enumerate(heads) if head in level]
        depth += 1
    return [depths[word] for word in range(len(heads))]


@right("a stop on the way between every two words")
def tree_distances(heads):
    n = len(heads)
    distances = torch.full((n, n), n, dtype=torch.long)
    distances.fill_diagonal_(0)
    for word, head in enumerate(heads):
        if head != -1:
            distances[word, head] = distances[head, word] = 1
    for stop in range(n):
        through = distances[:, stop, None] + distances[None, stop]
        distances = torch.minimum(distances, through)
    return distances


@right("the deeper of two words lifted until they meet")
def tree_distances(heads):
    def way(word):
        return [word] if heads[word] == -1 else [word, *way(heads[word])]

    ways = [way(word) for word in range(len(heads))]
    distances = torch.zeros(len(heads), len(heads), dtype=torch.long)
    for i, one in enumerate(ways):
        for j, other in enumerate(ways):
            a, b = list(one), list(other)
            while a[0] != b[0]:
                (a if len(a) >= len(b) else b).pop(0)
                distances[i, j] += 1
    return distances
