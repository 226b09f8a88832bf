"""Positions: five ways to tell a Transformer in which order its tokens stand.

Chapter 02. Absolute positions are added to the tokens (sinusoidal, learned); relative
ones act on the scores (Shaw, T5); rotary ones turn queries and keys.
"""

import math

import torch
from torch import Tensor, nn


def sinusoidal_positions(seq_len: int, d_model: int, base: float = 10000.0) -> Tensor:
    """Give every position a vector of waves, from fast ones to very slow ones.

    Shapes: -> (seq_len, d_model). Even columns hold sines, odd ones cosines; columns
    2i and 2i+1 turn by ``base ** (-2i / d_model)`` for each step. Position 0 is first.
    Source: Vaswani et al. (2017), section 3.5.
    """
    positions = torch.arange(seq_len, dtype=torch.float32)[:, None]
    pairs = torch.arange(0, d_model, 2, dtype=torch.float32)
    angles = positions * base ** (-pairs / d_model)  # (seq_len, ceil(d_model / 2))
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return waves.flatten(start_dim=1)[:, :d_model]


class LearnedPositions(nn.Module):
    """Add a learned vector to every token, one for each position up to ``max_len``.

    Shapes: x (batch, seq, d_model) -> (batch, seq, d_model).
    Raises ValueError when the sentence is longer than ``max_len``: no vector was
    learned for such a place.
    Source: Gehring et al. (2017), section 3.1; Devlin et al. (2019), section 3.
    """

    def __init__(self, max_len: int, d_model: int):
        """Create the table of ``max_len`` vectors."""
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Add the vectors of positions 0, 1, 2 ... to ``x``."""
        seq, max_len = x.shape[-2], self.table.num_embeddings
        if seq > max_len:
            raise ValueError(
                f"a sentence of {seq} tokens; expected at most {max_len}. "
                "Cut it, or create more positions and train them."
            )
        return x + self.table(torch.arange(seq, device=x.device))


def relative_distances(query_len: int, key_len: int) -> Tensor:
    """Tell for each query and key how far ahead the key stands; behind is negative.

    Shapes: -> (query_len, key_len) of integers: column minus row.
    Source: Shaw et al. (2018), section 3.2.
    """
    return torch.arange(key_len)[None, :] - torch.arange(query_len)[:, None]


def shaw_scores(queries: Tensor, keys: Tensor, table: Tensor) -> Tensor:
    """Score keys by what they are and by how far away they stand.

    ``table`` holds a learned vector for each distance from -max to +max, in order;
    farther keys share the outermost ones. The scores are not scaled.
    Shapes: queries (..., query_len, d_k), keys (..., key_len, d_k),
    table (2 max + 1, d_k) -> (..., query_len, key_len).
    Source: Shaw et al. (2018), equation 4 and section 3.2.
    """
    largest = len(table) // 2
    distances = relative_distances(queries.shape[-2], keys.shape[-2]).to(keys.device)
    vectors = table[distances.clamp(-largest, largest) + largest]
    by_distance = torch.einsum("...qd,qkd->...qk", queries, vectors)
    return queries @ keys.transpose(-2, -1) + by_distance


def t5_buckets(
    distances: Tensor, num_buckets: int = 32, max_distance: int = 128, both_ways=True
) -> Tensor:
    """Sort distances into buckets: one each for near keys, wider ones farther away.

    ``both_ways``: half of the buckets are for keys ahead. Otherwise all are for keys
    behind, and keys ahead count as distance 0.
    Shapes: distances (...) of integers, key minus query -> buckets (...) of integers.
    Source: Raffel et al. (2020), section 2.1, and their published code.
    """
    if both_ways:
        num_buckets //= 2
        ahead = (distances > 0).long() * num_buckets
        far = distances.abs()
    else:
        ahead, far = torch.zeros_like(distances), (-distances).clamp(min=0)
    exact = num_buckets // 2  # half of the buckets hold one distance each
    growth = (far.clamp(min=1).float() / exact).log() / math.log(max_distance / exact)
    wide = (exact + (growth * (num_buckets - exact)).long()).clamp(max=num_buckets - 1)
    return ahead + torch.where(far < exact, far, wide)


class RelativeBias(nn.Module):
    """Add to every score a learned number that depends on head and distance.

    Shapes: -> (heads, query_len, key_len), to be added to the scores of all sentences.
    ``table`` is an embedding with ``num_buckets`` rows and one column for each head.
    Source: Raffel et al. (2020), section 2.1.
    """

    def __init__(
        self, num_heads: int, num_buckets=32, max_distance=128, both_ways=True
    ):
        """Create the table, and remember how distances are sorted into buckets."""
        super().__init__()
        self.table = nn.Embedding(num_buckets, num_heads)
        self.max_distance, self.both_ways = max_distance, both_ways

    def forward(self, query_len: int, key_len: int) -> Tensor:
        """Give the numbers for ``query_len`` queries and ``key_len`` keys."""
        distances = relative_distances(query_len, key_len).to(self.table.weight.device)
        buckets = t5_buckets(
            distances, self.table.num_embeddings, self.max_distance, self.both_ways
        )
        return self.table(buckets).permute(2, 0, 1)  # heads come first


def rotate(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of numbers by an angle that grows with the position.

    Number i is paired with number i + d_head / 2; pair i turns by
    ``position * base ** (-2i / d_head)``. The length of a vector stays.
    Shapes: x (..., seq, d_head), positions (seq,) or (..., seq) -> as x.
    Raises ValueError when ``d_head`` is odd.
    Source: Su et al. (2021), section 3.2.2. The paper pairs neighbours; GPT-NeoX and
    the LLaMA of ``transformers`` pair halves as here, which is the same up to the
    order of the numbers.
    """
    d_head = x.shape[-1]
    if d_head % 2:
        raise ValueError(f"d_head is {d_head}; expected an even number.")
    pairs = torch.arange(0, d_head, 2, dtype=torch.float32, device=x.device)
    angles = positions[..., None] * base ** (-pairs / d_head)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def tree_depths(heads: list[int]) -> list[int]:
    """Count the steps from each word up to the root of its dependency tree.

    ``heads[i]`` is the place of the word that word i depends on, -1 for the root.
    Raises ValueError when the arrows do not form one tree.
    Source: Wang et al. (2019), "Self-attention with structural position
    representations", the absolute position.
    """
    depths = []
    for word in range(len(heads)):
        depth = 0
        while heads[word] != -1:
            word, depth = heads[word], depth + 1
            if depth >= len(heads):
                raise ValueError(f"heads {heads} form a circle; expected a tree.")
        depths.append(depth)
    if heads.count(-1) != 1:
        raise ValueError(f"heads {heads} have {heads.count(-1)} roots; expected one.")
    return depths


def tree_distances(heads: list[int]) -> Tensor:
    """Count the steps between every two words along the dependency tree.

    ``heads`` as in :func:`tree_depths`. Shapes: -> (seq, seq) of integers.
    Source: Wang et al. (2019), the relative position.
    """
    tree_depths(heads)  # refuses what is no tree
    ways = []  # from each word up to the root, both included
    for word in range(len(heads)):
        way = {word}
        while heads[word] != -1:
            word = heads[word]
            way.add(word)
        ways.append(way)
    # the path between two words has a step for each word on one way only
    return torch.tensor([[len(one ^ other) for other in ways] for one in ways])
