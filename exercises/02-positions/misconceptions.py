"""Wrong answers that learners really give in chapter 02, each with its explanation."""

import math

import torch
from torch import nn

from exercises.answers import wrong, wrong_choice

BLIND = "The same words, the same answer"
WAVES = "A clock with many hands"
DISTANCE = "Only the distance counts"
LEARNED = "A vector for every place"
SHAW = "Distances instead of places"
BUCKETS = "Near is fine, far is coarse"
ROTARY = "Turning queries and keys"
TREES = "Places in a tree"


@wrong(
    check="sinusoidal",
    section=WAVES,
    sentence="the exponent is 4i/d instead of 2i/d: the pairs are counted in steps of "
    "two, and then multiplied by two once more. The waves slow down too fast.",
)
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    places = torch.arange(seq_len, dtype=torch.float32)[:, None]
    columns = torch.arange(0, d_model, 2, dtype=torch.float32)
    angles = places * base ** (-2 * columns / d_model)
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return waves.flatten(start_dim=1)[:, :d_model]


@wrong(
    check="sinusoidal",
    section=WAVES,
    sentence="all sines come first and all cosines after them. Here sine and cosine of "
    "the same angle stand side by side, in columns 2i and 2i + 1.",
)
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    places = torch.arange(seq_len, dtype=torch.float32)[:, None]
    columns = torch.arange(0, d_model, 2, dtype=torch.float32)
    angles = places * base ** (-columns / d_model)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)[:, :d_model]


@wrong(
    check="sinusoidal",
    section=WAVES,
    sentence="an odd width breaks it: there is one sine more than there are cosines. "
    "Leave the last cosine out.",
)
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    table = torch.zeros(seq_len, d_model)
    places = torch.arange(seq_len, dtype=torch.float32)[:, None]
    speeds = base ** (-torch.arange(0, d_model, 2) / d_model)
    table[:, 0::2] = torch.sin(places * speeds)
    table[:, 1::2] = torch.cos(places * speeds)
    return table


@wrong(
    check="sinusoidal",
    section=WAVES,
    sentence="the places are counted from 1. The first place is 0, where every sine is "
    "0 and every cosine is 1.",
)
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    places = torch.arange(1, seq_len + 1, dtype=torch.float32)[:, None]
    columns = torch.arange(0, d_model, 2, dtype=torch.float32)
    angles = places * base ** (-columns / d_model)
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return waves.flatten(start_dim=1)[:, :d_model]


@wrong(
    check="sinusoidal",
    section=WAVES,
    sentence="sines and cosines have changed places. Even columns hold sines, odd "
    "columns hold cosines.",
)
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    places = torch.arange(seq_len, dtype=torch.float32)[:, None]
    columns = torch.arange(0, d_model, 2, dtype=torch.float32)
    angles = places * base ** (-columns / d_model)
    waves = torch.stack([angles.cos(), angles.sin()], dim=-1)
    return waves.flatten(start_dim=1)[:, :d_model]


@wrong(
    check="sinusoidal",
    section=WAVES,
    sentence="the sign of the exponent is turned round, so the waves become faster and "
    "faster. They must slow down: base to the power of minus 2i/d.",
)
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    places = torch.arange(seq_len, dtype=torch.float32)[:, None]
    columns = torch.arange(0, d_model, 2, dtype=torch.float32)
    angles = places * base ** (columns / d_model)
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return waves.flatten(start_dim=1)[:, :d_model]


@wrong(
    check="sinusoidal",
    section=WAVES,
    sentence="every column has a speed of its own. A sine and the cosine beside it "
    "belong to the same angle, or the distance can no longer be read off them.",
)
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    places = torch.arange(seq_len, dtype=torch.float32)[:, None]
    columns = torch.arange(d_model, dtype=torch.float32)
    angles = places * base ** (-columns / d_model)
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos())


@wrong(
    check="sinusoidal",
    section=WAVES,
    sentence="the base is always 10,000, whatever is handed over. Use `base`.",
)
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    places = torch.arange(seq_len, dtype=torch.float32)[:, None]
    columns = torch.arange(0, d_model, 2, dtype=torch.float32)
    angles = places * 10000.0 ** (-columns / d_model)
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return waves.flatten(start_dim=1)[:, :d_model]


@wrong(
    check="sinusoidal",
    section=WAVES,
    sentence="all columns are sines. A sine alone has two places with the same value "
    "in each turn; its cosine tells them apart.",
)
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    places = torch.arange(seq_len, dtype=torch.float32)[:, None]
    columns = torch.arange(d_model, dtype=torch.float32) // 2 * 2
    return torch.sin(places * base ** (-columns / d_model))


@wrong(
    check="sinusoidal",
    section=WAVES,
    sentence="the exponent is i/d instead of 2i/d: pair number i turns by base to the "
    "power of minus 2i/d. The slowest waves are too fast.",
)
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    places = torch.arange(seq_len, dtype=torch.float32)[:, None]
    pairs = torch.arange((d_model + 1) // 2, dtype=torch.float32)
    angles = places * base ** (-pairs / d_model)
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return waves.flatten(start_dim=1)[:, :d_model]


@wrong(
    check="sinusoidal",
    section=WAVES,
    sentence="the speeds are spread over one pair too few (d - 2 instead of d), as "
    "some later models do. Here the exponent is 2i divided by d_model.",
)
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    places = torch.arange(seq_len, dtype=torch.float32)[:, None]
    columns = torch.arange(0, d_model, 2, dtype=torch.float32)
    angles = places * base ** (-columns / max(d_model - 2, 1))
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return waves.flatten(start_dim=1)[:, :d_model]


@wrong(
    check="sinusoidal",
    section=WAVES,
    sentence="the table lies on its side: rows are places, columns are numbers of the "
    "vector.",
)
def sinusoidal_positions(seq_len, d_model, base=10000.0):
    places = torch.arange(seq_len, dtype=torch.float32)[:, None]
    columns = torch.arange(0, d_model, 2, dtype=torch.float32)
    angles = places * base ** (-columns / d_model)
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return waves.flatten(start_dim=1)[:, :d_model].T


@wrong(
    check="learned",
    section=LEARNED,
    sentence="the positions are counted along the batch: x.shape[0] is the number of "
    "sentences. The tokens are on the axis before the last.",
)
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x):
        if x.shape[-2] > self.table.num_embeddings:
            raise ValueError("too long")
        return x + self.table.weight[: x.shape[0]][:, None]


@wrong(
    check="learned",
    section=LEARNED,
    sentence="only the vectors of the places come back; the tokens are gone. Add the "
    "two.",
)
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x):
        if x.shape[-2] > self.table.num_embeddings:
            raise ValueError("too long")
        return self.table(torch.arange(x.shape[-2], device=x.device)).expand_as(x)


@wrong(
    check="learned",
    section=LEARNED,
    sentence="the tokens come back as they went in: the positions are not added.",
)
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x):
        if x.shape[-2] > self.table.num_embeddings:
            raise ValueError("too long")
        return x


@wrong(
    check="learned",
    section=LEARNED,
    sentence="no gradient reaches the table, so it never learns: it is no parameter, "
    "needs no gradient, or is used through .data or .detach().",
)
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x):
        if x.shape[-2] > self.table.num_embeddings:
            raise ValueError("too long")
        return x + self.table.weight.data[: x.shape[-2]]


@wrong(
    check="learned",
    section=LEARNED,
    sentence="a sentence that is too long is not refused: its last tokens all share "
    "the last vector, and nobody is told.",
)
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x):
        places = torch.arange(x.shape[-2], device=x.device)
        return x + self.table(places.clamp(max=self.table.num_embeddings - 1))


@wrong(
    check="learned",
    section=LEARNED,
    sentence="a sentence that is too long fails with an error of PyTorch's that does "
    "not say what is wrong. Raise a ValueError that names both lengths.",
)
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x):
        return x + self.table(torch.arange(x.shape[-2], device=x.device))


@wrong(
    check="learned",
    section=LEARNED,
    sentence="a sentence exactly as long as the table is refused. It has max_len "
    "places, 0 to max_len - 1, and all of them may be used.",
)
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x):
        if x.shape[-2] >= self.table.num_embeddings:
            raise ValueError("too long")
        return x + self.table(torch.arange(x.shape[-2], device=x.device))


@wrong(
    check="learned",
    section=LEARNED,
    sentence="the tokens of the caller are changed: `+=` works in place. Write "
    "`x + ...`, which makes a new tensor.",
)
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x):
        if x.shape[-2] > self.table.num_embeddings:
            raise ValueError("too long")
        x += self.table(torch.arange(x.shape[-2], device=x.device))
        return x


@wrong(
    check="learned",
    section=LEARNED,
    sentence="the places are counted from 1, so the first row is never used and the "
    "last place has none. Count from 0.",
)
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x):
        if x.shape[-2] > self.table.num_embeddings:
            raise ValueError("too long")
        return x + self.table(torch.arange(x.shape[-2], device=x.device) + 1)


@wrong(
    check="learned",
    section=LEARNED,
    sentence="every token gets the same vector, that of place 0. Each place has its "
    "own row.",
)
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x):
        if x.shape[-2] > self.table.num_embeddings:
            raise ValueError("too long")
        return x + self.table(torch.zeros(x.shape[-2], dtype=torch.long))


@wrong(
    check="learned",
    section=LEARNED,
    sentence="tokens and places are multiplied by the root of d_model together. If "
    "embeddings are to be scaled, that happens before the positions are added.",
)
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x):
        if x.shape[-2] > self.table.num_embeddings:
            raise ValueError("too long")
        return (x + self.table.weight[: x.shape[-2]]) * math.sqrt(x.shape[-1])


@wrong(
    check="learned",
    section=LEARNED,
    sentence="the table is created in forward, new and random at each call, and the "
    "optimiser never sees it. Create it once, in __init__.",
)
class LearnedPositions(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.max_len = max_len

    def forward(self, x):
        if x.shape[-2] > self.max_len:
            raise ValueError("too long")
        return x + nn.Embedding(self.max_len, x.shape[-1]).weight[: x.shape[-2]]


@wrong(
    check="distances",
    section=SHAW,
    sentence="the sign is turned round: a distance is the place of the key minus the "
    "place of the query, column minus row.",
)
def relative_distances(query_len, key_len):
    return torch.arange(query_len)[:, None] - torch.arange(key_len)[None, :]


@wrong(
    check="distances",
    section=SHAW,
    sentence="the sign is lost. Whether a key stands before or after the query is "
    "part of the distance.",
)
def relative_distances(query_len, key_len):
    return (torch.arange(key_len)[None, :] - torch.arange(query_len)[:, None]).abs()


@wrong(
    check="distances",
    section=SHAW,
    sentence="queries and keys have changed places: rows belong to queries, columns "
    "to keys.",
)
def relative_distances(query_len, key_len):
    return torch.arange(key_len)[:, None] - torch.arange(query_len)[None, :]


@wrong(
    check="distances",
    section=SHAW,
    sentence="the distances are not whole numbers. They will be used to look up rows "
    "of a table, so they must be.",
)
def relative_distances(query_len, key_len):
    return (
        torch.arange(float(key_len))[None, :] - torch.arange(float(query_len))[:, None]
    )


@wrong(
    check="shaw",
    section=SHAW,
    sentence="distances beyond the table are not clipped. A key that is farther away "
    "shares the outermost vector.",
)
def shaw_scores(queries, keys, table):
    most = len(table) // 2
    distances = torch.arange(keys.shape[-2]) - torch.arange(queries.shape[-2])[:, None]
    vectors = table[distances + most]
    return queries @ keys.mT + torch.einsum("...qd,qkd->...qk", queries, vectors)


@wrong(
    check="shaw",
    section=SHAW,
    sentence="the sign of the distance is turned round: keys ahead get the vectors of "
    "keys behind. A distance is key minus query.",
)
def shaw_scores(queries, keys, table):
    most = len(table) // 2
    distances = torch.arange(queries.shape[-2])[:, None] - torch.arange(keys.shape[-2])
    vectors = table[distances.clamp(-most, most) + most]
    return queries @ keys.mT + torch.einsum("...qd,qkd->...qk", queries, vectors)


@wrong(
    check="shaw",
    section=SHAW,
    sentence="the row is not shifted: distance 0 is the middle row of the table, not "
    "the first. A negative row silently counts from the end.",
)
def shaw_scores(queries, keys, table):
    most = len(table) // 2
    distances = torch.arange(keys.shape[-2]) - torch.arange(queries.shape[-2])[:, None]
    vectors = table[distances.clamp(-most, most)]
    return queries @ keys.mT + torch.einsum("...qd,qkd->...qk", queries, vectors)


@wrong(
    check="shaw",
    section=SHAW,
    sentence="only the distance is scored. What the key is counts as well: add q k.",
)
def shaw_scores(queries, keys, table):
    most = len(table) // 2
    distances = torch.arange(keys.shape[-2]) - torch.arange(queries.shape[-2])[:, None]
    vectors = table[distances.clamp(-most, most) + most]
    return torch.einsum("...qd,qkd->...qk", queries, vectors)


@wrong(
    check="shaw",
    section=SHAW,
    sentence="the vector of the distance meets the key. It stands beside the key, and "
    "is met by the query.",
)
def shaw_scores(queries, keys, table):
    most = len(table) // 2
    distances = torch.arange(keys.shape[-2]) - torch.arange(queries.shape[-2])[:, None]
    vectors = table[distances.clamp(-most, most) + most]
    return queries @ keys.mT + torch.einsum("...kd,qkd->...qk", keys, vectors)


@wrong(
    check="shaw",
    section=SHAW,
    sentence="the scores are divided by the square root of d_k. That is right in a "
    "model, but not asked here: chapter 04 adds it.",
)
def shaw_scores(queries, keys, table):
    most = len(table) // 2
    distances = torch.arange(keys.shape[-2]) - torch.arange(queries.shape[-2])[:, None]
    vectors = table[distances.clamp(-most, most) + most]
    scores = queries @ keys.mT + torch.einsum("...qd,qkd->...qk", queries, vectors)
    return scores / math.sqrt(keys.shape[-1])


@wrong(
    check="shaw",
    section=SHAW,
    sentence="the vector is chosen by the place of the key, whatever the query. It is "
    "the distance between the two that chooses.",
)
def shaw_scores(queries, keys, table):
    places = torch.arange(keys.shape[-2]).clamp(max=len(table) - 1)
    return queries @ (keys + table[places]).mT


@wrong(
    check="shaw",
    section=SHAW,
    sentence="the numbers of the vector are added up without the query. A score is "
    "the dot product of the query with the vector of the distance.",
)
def shaw_scores(queries, keys, table):
    most = len(table) // 2
    distances = torch.arange(keys.shape[-2]) - torch.arange(queries.shape[-2])[:, None]
    return queries @ keys.mT + table[distances.clamp(-most, most) + most].sum(-1)


@wrong(
    check="shaw",
    section=SHAW,
    sentence="distances are clipped to 0 below, so that all keys behind look as if "
    "they stood at the query itself.",
)
def shaw_scores(queries, keys, table):
    most = len(table) // 2
    distances = torch.arange(keys.shape[-2]) - torch.arange(queries.shape[-2])[:, None]
    vectors = table[distances.clamp(0, most) + most]
    return queries @ keys.mT + torch.einsum("...qd,qkd->...qk", queries, vectors)


@wrong(
    check="shaw",
    section=SHAW,
    sentence="the sign is lost: a key behind gets the vector of a key ahead at the "
    "same distance.",
)
def shaw_scores(queries, keys, table):
    most = len(table) // 2
    distances = torch.arange(keys.shape[-2]) - torch.arange(queries.shape[-2])[:, None]
    vectors = table[distances.abs().clamp(max=most) + most]
    return queries @ keys.mT + torch.einsum("...qd,qkd->...qk", queries, vectors)


@wrong(
    check="buckets",
    section=BUCKETS,
    sentence="the sign is turned round: keys ahead (distances above 0) belong into the "
    "second half of the buckets, keys behind into the first.",
)
def t5_buckets(distances, num_buckets=32, max_distance=128, both_ways=True):
    distances = -distances
    if both_ways:
        num_buckets //= 2
        ahead, far = (distances > 0).long() * num_buckets, distances.abs()
    else:
        ahead, far = 0, (-distances).clamp(min=0)
    exact = num_buckets // 2
    growth = (far.clamp(min=1) / exact).log() / math.log(max_distance / exact)
    wide = (exact + (growth * (num_buckets - exact)).long()).clamp(max=num_buckets - 1)
    return ahead + torch.where(far < exact, far, wide)


@wrong(
    check="buckets",
    section=BUCKETS,
    sentence="`both_ways` is not looked at: both directions always share the buckets.",
)
def t5_buckets(distances, num_buckets=32, max_distance=128, both_ways=True):
    num_buckets //= 2
    ahead, far = (distances > 0).long() * num_buckets, distances.abs()
    exact = num_buckets // 2
    growth = (far.clamp(min=1) / exact).log() / math.log(max_distance / exact)
    wide = (exact + (growth * (num_buckets - exact)).long()).clamp(max=num_buckets - 1)
    return ahead + torch.where(far < exact, far, wide)


@wrong(
    check="buckets",
    section=BUCKETS,
    sentence="each direction gets all the buckets, so keys ahead go beyond the last "
    "one. With `both_ways` each direction has half of them.",
)
def t5_buckets(distances, num_buckets=32, max_distance=128, both_ways=True):
    if both_ways:
        ahead, far = (distances > 0).long() * num_buckets, distances.abs()
    else:
        ahead, far = 0, (-distances).clamp(min=0)
    exact = num_buckets // 2
    growth = (far.clamp(min=1) / exact).log() / math.log(max_distance / exact)
    wide = (exact + (growth * (num_buckets - exact)).long()).clamp(max=num_buckets - 1)
    return ahead + torch.where(far < exact, far, wide)


@wrong(
    check="buckets",
    section=BUCKETS,
    sentence="the direction is lost: a key ahead gets the bucket of a key behind.",
)
def t5_buckets(distances, num_buckets=32, max_distance=128, both_ways=True):
    num_buckets = num_buckets // 2 if both_ways else num_buckets
    far = distances.abs() if both_ways else (-distances).clamp(min=0)
    exact = num_buckets // 2
    growth = (far.clamp(min=1) / exact).log() / math.log(max_distance / exact)
    wide = (exact + (growth * (num_buckets - exact)).long()).clamp(max=num_buckets - 1)
    return torch.where(far < exact, far, wide)


@wrong(
    check="buckets",
    section=BUCKETS,
    sentence="nothing stops at the last bucket: very far keys get a bucket that does "
    "not exist, or one of the other direction. Clamp before the offset is added.",
)
def t5_buckets(distances, num_buckets=32, max_distance=128, both_ways=True):
    if both_ways:
        num_buckets //= 2
        ahead, far = (distances > 0).long() * num_buckets, distances.abs()
    else:
        ahead, far = 0, (-distances).clamp(min=0)
    exact = num_buckets // 2
    growth = (far.clamp(min=1) / exact).log() / math.log(max_distance / exact)
    wide = exact + (growth * (num_buckets - exact)).long()
    return ahead + torch.where(far < exact, far, wide)


@wrong(
    check="buckets",
    section=BUCKETS,
    sentence="every bucket holds one distance. Only the first half do; the others grow "
    "with the logarithm of the distance.",
)
def t5_buckets(distances, num_buckets=32, max_distance=128, both_ways=True):
    if both_ways:
        num_buckets //= 2
        ahead, far = (distances > 0).long() * num_buckets, distances.abs()
    else:
        ahead, far = 0, (-distances).clamp(min=0)
    return ahead + far.clamp(max=num_buckets - 1)


@wrong(
    check="buckets",
    section=BUCKETS,
    sentence="the wide buckets are rounded to the nearest number. They are rounded "
    "down.",
)
def t5_buckets(distances, num_buckets=32, max_distance=128, both_ways=True):
    if both_ways:
        num_buckets //= 2
        ahead, far = (distances > 0).long() * num_buckets, distances.abs()
    else:
        ahead, far = 0, (-distances).clamp(min=0)
    exact = num_buckets // 2
    growth = (far.clamp(min=1) / exact).log() / math.log(max_distance / exact)
    wide = exact + (growth * (num_buckets - exact)).round().long()
    return ahead + torch.where(far < exact, far, wide.clamp(max=num_buckets - 1))


@wrong(
    check="buckets",
    section=BUCKETS,
    sentence="one way, keys ahead are sorted by their distance as if they stood "
    "behind. They count as distance 0.",
)
def t5_buckets(distances, num_buckets=32, max_distance=128, both_ways=True):
    far, ahead = distances.abs(), 0
    if both_ways:
        num_buckets //= 2
        ahead = (distances > 0).long() * num_buckets
    exact = num_buckets // 2
    growth = (far.clamp(min=1) / exact).log() / math.log(max_distance / exact)
    wide = (exact + (growth * (num_buckets - exact)).long()).clamp(max=num_buckets - 1)
    return ahead + torch.where(far < exact, far, wide)


@wrong(
    check="buckets",
    section=BUCKETS,
    sentence="the token itself, at distance 0, is counted among the keys ahead. It "
    "belongs to the first half: ahead means a distance above 0.",
)
def t5_buckets(distances, num_buckets=32, max_distance=128, both_ways=True):
    if both_ways:
        num_buckets //= 2
        ahead, far = (distances >= 0).long() * num_buckets, distances.abs()
    else:
        ahead, far = 0, (-distances).clamp(min=0)
    exact = num_buckets // 2
    growth = (far.clamp(min=1) / exact).log() / math.log(max_distance / exact)
    wide = (exact + (growth * (num_buckets - exact)).long()).clamp(max=num_buckets - 1)
    return ahead + torch.where(far < exact, far, wide)


@wrong(
    check="buckets",
    section=BUCKETS,
    sentence="the logarithm is taken of the distance itself. Divide it first by the "
    "number of buckets that hold one distance each, so that the wide ones begin there.",
)
def t5_buckets(distances, num_buckets=32, max_distance=128, both_ways=True):
    if both_ways:
        num_buckets //= 2
        ahead, far = (distances > 0).long() * num_buckets, distances.abs()
    else:
        ahead, far = 0, (-distances).clamp(min=0)
    exact = num_buckets // 2
    growth = far.clamp(min=1).log() / math.log(max_distance)
    wide = (exact + (growth * (num_buckets - exact)).long()).clamp(max=num_buckets - 1)
    return ahead + torch.where(far < exact, far, wide)


@wrong(
    check="buckets",
    section=BUCKETS,
    sentence="the buckets are not whole numbers. They will be used to look up rows of "
    "a table: round down with .long().",
)
def t5_buckets(distances, num_buckets=32, max_distance=128, both_ways=True):
    if both_ways:
        num_buckets //= 2
        ahead, far = (distances > 0).long() * num_buckets, distances.abs()
    else:
        ahead, far = 0, (-distances).clamp(min=0)
    exact = num_buckets // 2
    growth = (far.clamp(min=1) / exact).log() / math.log(max_distance / exact)
    wide = (exact + (growth * (num_buckets - exact)).floor()).clamp(max=num_buckets - 1)
    return ahead + torch.where(far < exact, far, wide)


@wrong(
    check="relative-bias",
    section=BUCKETS,
    sentence="the heads come last. The numbers are added to scores, in which the heads "
    "come first: (heads, query_len, key_len).",
)
class RelativeBias(nn.Module):
    def __init__(self, num_heads, num_buckets=32, max_distance=128, both_ways=True):
        super().__init__()
        self.table = nn.Embedding(num_buckets, num_heads)
        self.rest = max_distance, both_ways

    def forward(self, query_len, key_len):
        distances = relative_distances(query_len, key_len).to(self.table.weight.device)
        return self.table(t5_buckets(distances, self.table.num_embeddings, *self.rest))


@wrong(
    check="relative-bias",
    section=BUCKETS,
    sentence="the axes are reshaped instead of moved. The shape fits, but the numbers "
    "of different heads are mixed. Use permute.",
)
class RelativeBias(nn.Module):
    def __init__(self, num_heads, num_buckets=32, max_distance=128, both_ways=True):
        super().__init__()
        self.table = nn.Embedding(num_buckets, num_heads)
        self.rest = max_distance, both_ways

    def forward(self, query_len, key_len):
        distances = relative_distances(query_len, key_len).to(self.table.weight.device)
        buckets = t5_buckets(distances, self.table.num_embeddings, *self.rest)
        return self.table(buckets).reshape(-1, query_len, key_len)


@wrong(
    check="relative-bias",
    section=BUCKETS,
    sentence="queries and keys are exchanged: the last axis belongs to the keys.",
)
class RelativeBias(nn.Module):
    def __init__(self, num_heads, num_buckets=32, max_distance=128, both_ways=True):
        super().__init__()
        self.table = nn.Embedding(num_buckets, num_heads)
        self.rest = max_distance, both_ways

    def forward(self, query_len, key_len):
        distances = relative_distances(query_len, key_len).to(self.table.weight.device)
        buckets = t5_buckets(distances, self.table.num_embeddings, *self.rest)
        return self.table(buckets).permute(2, 1, 0)


@wrong(
    check="relative-bias",
    section=BUCKETS,
    sentence="`both_ways` is not handed on, so a decoder would spend half of its "
    "buckets on keys that it may not see.",
)
class RelativeBias(nn.Module):
    def __init__(self, num_heads, num_buckets=32, max_distance=128, both_ways=True):
        super().__init__()
        self.table = nn.Embedding(num_buckets, num_heads)
        self.max_distance = max_distance

    def forward(self, query_len, key_len):
        distances = relative_distances(query_len, key_len).to(self.table.weight.device)
        sizes = self.table.num_embeddings, self.max_distance
        return self.table(t5_buckets(distances, *sizes)).permute(2, 0, 1)


@wrong(
    check="relative-bias",
    section=BUCKETS,
    sentence="`max_distance` is not handed on: the buckets always reach to 128.",
    seen="graded",
)
class RelativeBias(nn.Module):
    def __init__(self, num_heads, num_buckets=32, max_distance=128, both_ways=True):
        super().__init__()
        self.table = nn.Embedding(num_buckets, num_heads)
        self.both_ways = both_ways

    def forward(self, query_len, key_len):
        distances = relative_distances(query_len, key_len).to(self.table.weight.device)
        buckets = t5_buckets(
            distances, self.table.num_embeddings, both_ways=self.both_ways
        )
        return self.table(buckets).permute(2, 0, 1)


@wrong(
    check="relative-bias",
    section=BUCKETS,
    sentence="the table is used through .data or .detach(), or needs no gradient: the "
    "numbers would never be learned.",
)
class RelativeBias(nn.Module):
    def __init__(self, num_heads, num_buckets=32, max_distance=128, both_ways=True):
        super().__init__()
        self.table = nn.Embedding(num_buckets, num_heads)
        self.rest = max_distance, both_ways

    def forward(self, query_len, key_len):
        distances = relative_distances(query_len, key_len).to(self.table.weight.device)
        buckets = t5_buckets(distances, self.table.num_embeddings, *self.rest)
        return self.table.weight.data[buckets].permute(2, 0, 1)


@wrong(
    check="relative-bias",
    section=BUCKETS,
    sentence="the heads are averaged, so all of them get the same numbers. Each head "
    "has its own column.",
)
class RelativeBias(nn.Module):
    def __init__(self, num_heads, num_buckets=32, max_distance=128, both_ways=True):
        super().__init__()
        self.table = nn.Embedding(num_buckets, num_heads)
        self.rest = max_distance, both_ways

    def forward(self, query_len, key_len):
        distances = relative_distances(query_len, key_len).to(self.table.weight.device)
        buckets = t5_buckets(distances, self.table.num_embeddings, *self.rest)
        found = self.table(buckets).permute(2, 0, 1)
        return found.mean(dim=0, keepdim=True).expand_as(found)


@wrong(
    check="relative-bias",
    section=BUCKETS,
    sentence="the distance itself is used as a row, and not its bucket, clipped "
    "to the table. Far keys should share wide buckets.",
)
class RelativeBias(nn.Module):
    def __init__(self, num_heads, num_buckets=32, max_distance=128, both_ways=True):
        super().__init__()
        self.table = nn.Embedding(num_buckets, num_heads)

    def forward(self, query_len, key_len):
        half = self.table.num_embeddings // 2
        distances = relative_distances(query_len, key_len).clamp(-half, half - 1)
        return self.table(distances + half).permute(2, 0, 1)


@wrong(
    check="relative-bias",
    section=BUCKETS,
    sentence="the sign of the distance is turned round: keys ahead get the numbers of "
    "keys behind.",
)
class RelativeBias(nn.Module):
    def __init__(self, num_heads, num_buckets=32, max_distance=128, both_ways=True):
        super().__init__()
        self.table = nn.Embedding(num_buckets, num_heads)
        self.rest = max_distance, both_ways

    def forward(self, query_len, key_len):
        distances = -relative_distances(query_len, key_len)
        buckets = t5_buckets(distances, self.table.num_embeddings, *self.rest)
        return self.table(buckets).permute(2, 0, 1)


@wrong(
    check="rotate",
    section=ROTARY,
    sentence="neighbours are paired: number 2i with number 2i + 1. That is the paper's "
    "way; here number i is paired with number i + d/2, as LLaMA does.",
)
def rotate(x, positions, base=10000.0):
    d_head = x.shape[-1]
    if d_head % 2:
        raise ValueError("odd")
    pairs = torch.arange(0, d_head, 2, device=x.device)
    angles = positions[..., None] * base ** (-pairs / d_head)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]
    turned = [first * cos - second * sin, second * cos + first * sin]
    return torch.stack(turned, dim=-1).flatten(-2)


@wrong(
    check="rotate",
    section=ROTARY,
    sentence="the pairs turn the other way round: the sign of the sine is exchanged.",
)
def rotate(x, positions, base=10000.0):
    d_head = x.shape[-1]
    if d_head % 2:
        raise ValueError("odd")
    pairs = torch.arange(0, d_head, 2, device=x.device)
    angles = positions[..., None] * base ** (-pairs / d_head)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos + second * sin, second * cos - first * sin], dim=-1)


@wrong(
    check="rotate",
    section=ROTARY,
    sentence="the sign of the exponent is turned round, so later pairs turn faster. "
    "They must turn more slowly.",
)
def rotate(x, positions, base=10000.0):
    d_head = x.shape[-1]
    if d_head % 2:
        raise ValueError("odd")
    pairs = torch.arange(0, d_head, 2, device=x.device)
    angles = positions[..., None] * base ** (pairs / d_head)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


@wrong(
    check="rotate",
    section=ROTARY,
    sentence="the positions that are handed over are not used: 0, 1, 2 ... are counted "
    "instead. A cache or a gap gives other positions.",
)
def rotate(x, positions, base=10000.0):
    d_head = x.shape[-1]
    if d_head % 2:
        raise ValueError("odd")
    pairs = torch.arange(0, d_head, 2, device=x.device)
    angles = torch.arange(x.shape[-2])[:, None] * base ** (-pairs / d_head)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


@wrong(
    check="rotate",
    section=ROTARY,
    sentence="both halves get the minus sign. In a rotation one of them has a plus.",
)
def rotate(x, positions, base=10000.0):
    d_head = x.shape[-1]
    if d_head % 2:
        raise ValueError("odd")
    pairs = torch.arange(0, d_head, 2, device=x.device)
    angles = positions[..., None] * base ** (-pairs / d_head)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos - first * sin], dim=-1)


@wrong(
    check="rotate",
    section=ROTARY,
    sentence="the base is always 10,000, whatever is handed over. Use `base`.",
)
def rotate(x, positions, base=10000.0):
    d_head = x.shape[-1]
    if d_head % 2:
        raise ValueError("odd")
    pairs = torch.arange(0, d_head, 2, device=x.device)
    angles = positions[..., None] * 10000.0 ** (-pairs / d_head)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


@wrong(
    check="rotate",
    section=ROTARY,
    sentence="the waves are added to the vector. Rotary positions turn it: its length "
    "stays as it was.",
)
def rotate(x, positions, base=10000.0):
    d_head = x.shape[-1]
    if d_head % 2:
        raise ValueError("odd")
    pairs = torch.arange(0, d_head, 2, device=x.device)
    angles = positions[..., None] * base ** (-pairs / d_head)
    return x + torch.cat([angles.sin(), angles.cos()], dim=-1).to(x.dtype)


@wrong(
    check="rotate",
    section=ROTARY,
    sentence="an odd width is not refused: one number is left without a partner. Raise "
    "a ValueError.",
)
def rotate(x, positions, base=10000.0):
    d_head = x.shape[-1]
    half = d_head // 2
    angles = positions[..., None] * base ** (-torch.arange(half) * 2 / d_head)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    turned = [first * cos - second * sin, second * cos + first * sin, rest]
    return torch.cat(turned, dim=-1)


@wrong(
    check="rotate",
    section=ROTARY,
    sentence="the vector of the caller is changed in place, and the second half is "
    "computed from the new first half. Compute both from the old ones.",
)
def rotate(x, positions, base=10000.0):
    d_head = x.shape[-1]
    if d_head % 2:
        raise ValueError("odd")
    pairs = torch.arange(0, d_head, 2, device=x.device)
    angles = positions[..., None] * base ** (-pairs / d_head)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    half = d_head // 2
    x[..., :half] = x[..., :half] * cos - x[..., half:] * sin
    x[..., half:] = x[..., half:] * cos + x[..., :half] * sin
    return x


@wrong(
    check="rotate",
    section=ROTARY,
    sentence="the exponent is i/d instead of 2i/d: pair number i turns by base to the "
    "power of minus 2i/d a step.",
)
def rotate(x, positions, base=10000.0):
    d_head = x.shape[-1]
    if d_head % 2:
        raise ValueError("odd")
    pairs = torch.arange(d_head // 2, device=x.device)
    angles = positions[..., None] * base ** (-pairs / d_head)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


@wrong(
    check="rotate",
    section=ROTARY,
    sentence="the angles repeat as neighbours do (0, 0, 1, 1 ...) while the halves are "
    "paired. Both halves need the angles in the order 0, 1, 2 ...",
)
def rotate(x, positions, base=10000.0):
    d_head = x.shape[-1]
    if d_head % 2:
        raise ValueError("odd")
    pairs = torch.arange(0, d_head, 2, device=x.device)
    angles = positions[..., None] * base ** (-pairs / d_head)
    angles = angles.repeat_interleave(2, dim=-1)
    first, second = x.chunk(2, dim=-1)
    other = torch.cat([-second, first], dim=-1)
    return x * angles.cos().to(x.dtype) + other * angles.sin().to(x.dtype)


@wrong(
    check="rotate",
    section=ROTARY,
    sentence="only the first half is turned. The second half of a pair moves as well.",
)
def rotate(x, positions, base=10000.0):
    d_head = x.shape[-1]
    if d_head % 2:
        raise ValueError("odd")
    pairs = torch.arange(0, d_head, 2, device=x.device)
    angles = positions[..., None] * base ** (-pairs / d_head)
    first, second = x.chunk(2, dim=-1)
    turned = first * angles.cos().to(x.dtype) - second * angles.sin().to(x.dtype)
    return torch.cat([turned, second], dim=-1)


@wrong(
    check="tree-depths",
    section=TREES,
    sentence="the root has depth 1. It is no step away from itself: depth 0.",
)
def tree_depths(heads):
    if heads.count(-1) != 1:
        raise ValueError("expected one root")
    depths = []
    for word in range(len(heads)):
        depth = 1
        while heads[word] != -1:
            word, depth = heads[word], depth + 1
        depths.append(depth)
    return depths


@wrong(
    check="tree-depths",
    section=TREES,
    sentence="the distance along the line is counted, from a word to the word it "
    "depends on. Count the arrows up to the root.",
)
def tree_depths(heads):
    if heads.count(-1) != 1:
        raise ValueError("expected one root")
    return [abs(i - head) if head >= 0 else 0 for i, head in enumerate(heads)]


@wrong(
    check="tree-depths",
    section=TREES,
    sentence="each word gets at most one step: whether it is the root. Go on from the "
    "word it depends on, until you stand at the root.",
)
def tree_depths(heads):
    if heads.count(-1) != 1:
        raise ValueError("expected one root")
    return [0 if head == -1 else 1 for head in heads]


@wrong(
    check="tree-depths",
    section=TREES,
    sentence="the arrows are counted downwards: how far the lowest word below stands. "
    "Depth counts upwards, to the root.",
)
def tree_depths(heads):
    if heads.count(-1) != 1:
        raise ValueError("expected one root")
    heights = [0] * len(heads)
    for word in range(len(heads)):
        steps = 0
        while heads[word] != -1:
            word, steps = heads[word], steps + 1
            heights[word] = max(heights[word], steps)
    return heights


@wrong(
    check="tree-depths",
    section=TREES,
    sentence="two roots are not refused. Then it is two trees, and some words have no "
    "path between them.",
)
def tree_depths(heads):
    depths = []
    for word in range(len(heads)):
        depth = 0
        while heads[word] != -1:
            word, depth = heads[word], depth + 1
        depths.append(depth)
    return depths


@wrong(
    check="tree-depths",
    section=TREES,
    sentence="the distance from the root along the line is counted. Count the arrows "
    "of the tree.",
)
def tree_depths(heads):
    if heads.count(-1) != 1:
        raise ValueError("expected one root")
    return [abs(i - heads.index(-1)) for i in range(len(heads))]


@wrong(
    check="tree-depths",
    section=TREES,
    sentence="each word is taken to stand after the word it depends on, so a depth is "
    "used before it is known. Go up from every word, or sort the words first.",
)
def tree_depths(heads):
    if heads.count(-1) != 1:
        raise ValueError("expected one root")
    depths = [0] * len(heads)
    for word, head in enumerate(heads):
        depths[word] = 0 if head == -1 else depths[head] + 1
    return depths


@wrong(
    check="tree-distances",
    section=TREES,
    sentence="these are distances along the line. Count the arrows of the tree.",
)
def tree_distances(heads):
    places = torch.arange(len(heads))
    return (places[:, None] - places[None, :]).abs()


@wrong(
    check="tree-distances",
    section=TREES,
    sentence="only the depths are compared. Two words of the same depth would then "
    "be at distance 0; there is a path up and down between them.",
)
def tree_distances(heads):
    depths = torch.tensor(tree_depths(heads))
    return (depths[:, None] - depths[None, :]).abs()


@wrong(
    check="tree-distances",
    section=TREES,
    sentence="every path goes through the root. It turns round at the lowest word that "
    "is above both.",
)
def tree_distances(heads):
    depths = torch.tensor(tree_depths(heads))
    distances = depths[:, None] + depths[None, :]
    return distances.fill_diagonal_(0)


@wrong(
    check="tree-distances",
    section=TREES,
    sentence="the arrows are followed upwards only, so the way back is missing: the "
    "distance from a to b is that from b to a.",
)
def tree_distances(heads):
    distances = torch.zeros(len(heads), len(heads), dtype=torch.long)
    for word in range(len(heads)):
        above, steps = word, 0
        while above != -1:
            distances[word, above] = steps
            above, steps = heads[above], steps + 1
    return distances


@wrong(
    check="tree-distances",
    section=TREES,
    sentence="only words above each other have a distance. Two words on different "
    "branches have one too: up to where the branches meet, and down.",
)
def tree_distances(heads):
    distances = torch.zeros(len(heads), len(heads), dtype=torch.long)
    for word in range(len(heads)):
        above, steps = word, 0
        while above != -1:
            distances[word, above] = distances[above, word] = steps
            above, steps = heads[above], steps + 1
    return distances


@wrong(
    check="tree-distances",
    section=TREES,
    sentence="this is the table of arrows: 1 where a word depends on another. Paths of "
    "several arrows count as well.",
)
def tree_distances(heads):
    distances = torch.zeros(len(heads), len(heads), dtype=torch.long)
    for word, head in enumerate(heads):
        if head >= 0:
            distances[word, head] = distances[head, word] = 1
    return distances


@wrong(
    check="tree-distances",
    section=TREES,
    sentence="words are counted instead of steps: every distance is one too large, "
    "and a word is at distance 1 from itself.",
)
def tree_distances(heads):
    paths = []
    for word in range(len(heads)):
        path = [word]
        while heads[path[-1]] != -1:
            path.append(heads[path[-1]])
        paths.append(set(path))
    return torch.tensor([[len(a ^ b) + 1 for b in paths] for a in paths])


wrong_choice(
    "blindness",
    check="concept-blindness",
    section=BLIND,
    a="place by place the outputs differ: another word stands there. It is each word's "
    "own output that stays.",
    c="the outputs are the same too: the same weights mix the same values.",
    d="the rows have moved, but the vector of each word is the same in both sentences.",
)
wrong_choice(
    "dot_product",
    check="concept-dot-product",
    section=DISTANCE,
    a="the product is a sum of cosines, and a cosine is the same for plus and minus. "
    "The order is lost until a learned matrix stands between the two.",
    b="the places themselves cancel out; only their difference is left.",
    d="the distance, yes. But a cosine is the same for plus and minus, so the product "
    "does not tell which comes first.",
)
wrong_choice(
    "unseen_rows",
    check="concept-unseen-rows",
    section=LEARNED,
    b="a table begins with random numbers, and no gradient ever reached these rows.",
    c="each row is learned by itself. Nothing ties row 128 to row 127.",
    d="each row is learned by itself. Nothing is copied.",
)
wrong_choice(
    "what_turns",
    check="concept-what-turns",
    section=ROTARY,
    a="that is where sinusoidal positions are added. Rotary ones act on queries and "
    "keys, in each layer anew.",
    b="values are left alone: they are what is handed over, and take no part in the "
    "score.",
    c="with the keys alone turned, a score would depend on the place of the key, not "
    "on the distance.",
)
