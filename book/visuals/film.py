"""A film of a training: what a model has learned, and where it looks, step by step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from book.visuals.elements import Element, finite, plain_table, rounded

#: One character for each of 64 shades: weights of 0 to 1, small enough for a page.
SHADES = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"


@dataclass(frozen=True)
class Frame:
    """One look at a model in training.

    ``measured`` maps a chart's title to the named numbers that it shows.
    Shapes: maps (layers, heads, seq, seq), causal attention weights.
    """

    step: int
    maps: Tensor
    measured: Mapping[str, Mapping[str, float]]


def training_film(
    tokens: Sequence[str], frames: Sequence[Frame], caption: str
) -> Element:
    """Show a training as a film: charts of what was measured, and the attention maps.

    The reader chooses a step and a token; ``tokens`` name both axes of the maps.
    Raises ValueError when the frames are fewer than two or out of order, do not fit the
    tokens or each other, look ahead, or hold numbers that are not finite.
    """
    if len(frames) < 2:
        raise ValueError(f"{len(frames)} frames; expected at least two.")
    steps = [frame.step for frame in frames]
    if steps != sorted(set(steps)):
        raise ValueError(f"the steps are {steps}; expected each later than the last.")
    first = frames[0]
    expected = (*first.maps.shape[:2], len(tokens), len(tokens))
    names = _names(first)
    for frame in frames:
        where = f"the frame of step {frame.step}"
        if tuple(frame.maps.shape) != expected:
            raise ValueError(
                f"{where} has maps {tuple(frame.maps.shape)}; expected {expected}: "
                "layers, heads, and the tokens twice."
            )
        if _names(frame) != names:
            raise ValueError(f"{where} measured {_names(frame)}; expected {names}.")
        finite(where, frame.maps.flatten().tolist())
        for chart in frame.measured.values():
            finite(where, chart.values())
        if frame.maps.triu(diagonal=1).any():
            raise ValueError(f"{where} looks ahead; expected causal weights.")
    charts = [
        {
            "title": title,
            "lines": {
                name: [rounded(frame.measured[title][name]) for frame in frames]
                for name in chart
            },
        }
        for title, chart in first.measured.items()
    ]
    data = {
        "caption": caption,
        "tokens": list(tokens),
        "heads": first.maps.shape[1],
        "steps": steps,
        "charts": charts,
        "maps": [_shades(frame.maps) for frame in frames],
    }
    return Element("training-film", data, _plain_table(data))


def _names(frame: Frame) -> dict[str, list[str]]:
    return {title: list(chart) for title, chart in frame.measured.items()}


def _shades(maps: Tensor) -> str:
    """Write the lower triangles of all maps, row by row, one character a weight."""
    seq = maps.shape[-1]
    rows, columns = (maps.new_ones(seq, seq).tril() > 0).nonzero(as_tuple=True)
    shades = (maps[..., rows, columns].clamp(0, 1) * 63).round().long()
    return "".join(SHADES[shade] for shade in shades.flatten().tolist())


def _plain_table(data: dict) -> str:
    lines = {
        f"{chart['title']}: {name}": numbers
        for chart in data["charts"]
        for name, numbers in chart["lines"].items()
    }
    rows = [
        [step, *(f"{numbers[i]:.2f}" for numbers in lines.values())]
        for i, step in enumerate(data["steps"])
    ]
    return plain_table(data["caption"], ["step", *lines], rows)
