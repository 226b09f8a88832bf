"""The position lab: choose a scheme and two places, and see what they give."""

import torch
from torch import Tensor

from book.visuals.elements import Element, finite, plain_table, rounded
from solutions.positions import rotate, sinusoidal_positions, t5_buckets

LARGEST = 128


def position_lab(
    caption: str,
    *,
    length: int = 64,
    width: int = 32,
    learned: Tensor | None = None,
    bias: Tensor | None = None,
    base: float = 10000.0,
    max_distance: int = 128,
    behind: int = 2,
) -> Element:
    """Show the vectors of two places, and their dot product, for the reader to move.

    The browser computes sinusoidal and rotary positions and T5's buckets itself. The
    rotary query is a vector of ones; its key is turned so that the best place stands
    ``behind`` places before. What training found comes from here: ``learned``, a table
    (at least length, at least width), and ``bias``, one number for each T5 bucket.
    Without ``learned`` that scheme is left out; without ``bias`` the bucket is shown.
    Raises ValueError when a size or a shape does not fit.
    """
    for name, size in (("length", length), ("width", width)):
        if not 4 <= size <= LARGEST or (name == "width" and size % 4):
            what = "a multiple of 4" if name == "width" else "a number"
            raise ValueError(f"{name} is {size}; expected {what} from 4 to {LARGEST}.")
    if not 0 <= behind < length:
        raise ValueError(f"behind is {behind}; expected a number below {length}.")
    if base <= 1:
        raise ValueError(f"base is {base}; expected a number above 1.")
    if learned is not None:
        shape = tuple(learned.shape)
        if len(shape) != 2 or shape[0] < length or shape[1] < width:
            raise ValueError(
                f"learned has shape {shape}; expected at least ({length}, {width}): "
                "a row for each place. Pass `LearnedPositions.table.weight`."
            )
        learned = learned.detach().cpu().double()[:length, :width]
        finite("learned", learned.flatten().tolist())
    num_buckets = 32
    if bias is not None:
        if bias.dim() != 1 or len(bias) < 4 or len(bias) % 2:
            raise ValueError(
                f"bias has shape {tuple(bias.shape)}; expected (num_buckets,), an even "
                "number of buckets. Pass one head: `RelativeBias.table.weight[:, 0]`."
            )
        num_buckets = len(bias)
        bias = bias.detach().cpu().double()
        finite("bias", bias.tolist())
    if max_distance <= num_buckets // 4:
        raise ValueError(
            f"max_distance is {max_distance}; expected more than {num_buckets // 4}, "
            "the number of distances that have a bucket each."
        )
    data = {
        "caption": caption,
        "length": length,
        "widths": [w for w in (4, 8, 16, 32, 64) if w < width] + [width],
        "base": base,
        "behind": behind,
        "learned": None,
        "bias": None if bias is None else [rounded(n) for n in bias.tolist()],
        "num_buckets": num_buckets,
        "max_distance": max_distance,
    }
    if learned is not None:
        rows = learned.tolist()
        data["learned"] = [[float(f"{n:.4g}") for n in row] for row in rows]
    return Element("position-lab", data, _plain_table(data, learned, bias))


def _plain_table(data: dict, learned: Tensor | None, bias: Tensor | None) -> str:
    """Write what each scheme gives around the middle place."""
    length, width = data["length"], data["widths"][-1]
    middle = length // 2
    places = torch.arange(length)
    waves = sinusoidal_positions(length, width, data["base"])
    ones = torch.ones(length, width)
    queries = rotate(ones, places, data["base"])
    keys = rotate(ones, places + data["behind"], data["base"])
    buckets = t5_buckets(places - middle, data["num_buckets"], data["max_distance"])
    columns = {
        "sinusoidal": waves @ waves[middle],
        "rotary": keys @ queries[middle],
        "T5": buckets if bias is None else bias[buckets],
    }
    if learned is not None:
        columns["learned"] = learned @ learned[middle]
    near = [t for t in range(middle - 4, middle + 5) if 0 <= t < length]
    rows = (
        [t - middle, *(f"{float(numbers[t]):.2f}" for numbers in columns.values())]
        for t in near
    )
    return plain_table(data["caption"], ["distance", *columns], rows)
