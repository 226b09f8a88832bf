"""Block-sparse attention whose cost grows with the length, and not with its square.

Chapter 14. Tokens are taken in blocks; each block of queries gathers a few blocks of
keys, and the first and the last block see all.
"""

import torch
from torch import Tensor


def bigbird_blocks(
    num_blocks: int, num_random: int, generator: torch.Generator | None = None
) -> list[list[int]]:
    """List the blocks of keys that each block of queries but the first and last sees.

    These are its neighbours, itself, both ends, and ``num_random`` others, drawn with
    ``generator``. Without a generator the first block is named again in their place:
    that is what the published models do when they are used and not trained.
    Raises ValueError when there are too few blocks to be sparse.
    Source: Zaheer et al. (2020), section 2 and appendix D.
    """
    if num_blocks < 5 + 2 * num_random:
        raise ValueError(
            f"{num_blocks} blocks; expected at least {5 + 2 * num_random} for "
            f"{num_random} random ones. Use full attention for so short a text."
        )
    rows = []
    for i in range(1, num_blocks - 1):
        near = sorted({0, i - 1, i, i + 1, num_blocks - 1})
        drawn = [0] * num_random
        if generator is not None:
            others = [b for b in range(num_blocks) if b not in near]
            order = torch.randperm(len(others), generator=generator)[:num_random]
            drawn = [others[n] for n in order]
        rows.append(near + drawn)
    return rows


def block_counts(rows: list[list[int]]) -> Tensor:
    """Count how often each block of queries gathers each block of keys.

    Shapes: -> (num_blocks, num_blocks) of integers. Dense attention with the logarithm
    of these numbers added to its scores is the same as the sparse one.
    """
    num_blocks = len(rows) + 2
    counts = torch.ones(num_blocks, num_blocks, dtype=torch.long)
    for i, row in enumerate(rows, 1):
        counts[i] = torch.bincount(torch.tensor(row), minlength=num_blocks)
    return counts


def block_table(rows: list[list[int]], device) -> tuple[Tensor, Tensor]:
    """Make rows of one length: the indices, and whether each is a real one.

    Shapes: -> two tensors (len(rows), longest), of integers and of booleans.
    """
    longest = max(map(len, rows))
    index = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    sizes = torch.tensor([len(row) for row in rows])
    is_there = torch.arange(longest)[None, :] < sizes[:, None]
    return index.to(device), is_there.to(device)


def block_sparse_attention(
    queries: Tensor, keys: Tensor, values: Tensor, rows: list[list[int]], real: Tensor
) -> Tensor:
    """Attend in blocks: ``rows`` from :func:`bigbird_blocks`, scores not scaled here.

    A block that is named twice counts twice. Filling is not attended to.
    Shapes: queries, keys and values (batch, heads, seq, d_head), real (batch, seq)
    -> (batch, heads, seq, d_head).
    Source: Zaheer et al. (2020), appendix D.
    """
    num_blocks = len(rows) + 2
    lowest = torch.finfo(queries.dtype).min
    wall = torch.zeros_like(real, dtype=queries.dtype).masked_fill(~real, lowest)
    index, is_there = block_table(rows, queries.device)
    # (batch, heads, seq, d) -> (batch, heads, blocks, block, d)
    cut = [t.unflatten(2, (num_blocks, -1)) for t in (queries, keys, values)]
    middle = cut[0][:, :, 1:-1]
    near_keys, near_values = (t[:, :, index].flatten(3, 4) for t in cut[1:])
    near_wall = wall.unflatten(1, (num_blocks, -1))[:, index]
    near_wall = near_wall.masked_fill(~is_there[None, :, :, None], -torch.inf)
    scores = middle @ near_keys.mT + near_wall.flatten(2)[:, None, :, None, :]
    found = torch.softmax(scores, dim=-1) @ near_values
    block = queries.shape[2] // num_blocks
    ends = torch.cat([queries[:, :, :block], queries[:, :, -block:]], dim=2)
    scores = ends @ keys.mT + wall[:, None, None, :]
    first, last = (torch.softmax(scores, dim=-1) @ values).split(block, dim=2)
    return torch.cat([first, found.flatten(2, 3), last], dim=2)
