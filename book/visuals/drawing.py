"""The book's pictures: heat maps of weights, and drawings of boxes and arrows."""

import itertools
import math
from itertools import pairwise
from types import SimpleNamespace

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from torch import Tensor

from book.visuals.words import say

#: Ink and fills that stay readable on paper and on a dark page's panel.
colours = SimpleNamespace(
    ink="#22252b", soft="#5d6470", line="#8a8f98", blue="#3b6ea8", pale="#dfe8f3",
    sand="#f3ead8", green="#dcebe0", rose="#f4dfda", paper="#ffffff",
)  # fmt: skip
BLUES = LinearSegmentedColormap.from_list("course", [colours.paper, colours.blue])


def draw_weights(
    axis: Axes,
    weights: Tensor,
    tokens: list[str],
    title: str,
    keys: list[str] | None = None,
) -> None:
    """Draw attention weights as a heat map with its numbers.

    Shapes: weights (query_len, key_len); ``tokens`` names both axes, or the queries
    alone where ``keys`` are given.
    """
    keys = tokens if keys is None else keys
    axis.imshow(weights.detach(), cmap=BLUES, vmin=0, vmax=1)
    axis.set_xticks(range(weights.shape[1]), keys[: weights.shape[1]])
    axis.set_yticks(range(weights.shape[0]), tokens[: weights.shape[0]])
    axis.set_xlabel(say("who is looked at"))
    axis.set_ylabel(say("who asks"))
    axis.set_title(say(title))
    axis.tick_params(length=0)
    for i, row in enumerate(weights.tolist()):
        for j, weight in enumerate(row):
            ink = colours.paper if weight > 0.6 else colours.ink
            axis.text(
                j, i, f"{weight:.2f}", ha="center", va="center", color=ink, size=8
            )


def draw_mask(axis: Axes, mask: Tensor, title: str) -> None:
    """Draw a mask: a filled square where a query may look at a key.

    Shapes: mask (query_len, key_len) of booleans.
    """
    axis.imshow(mask, cmap=BLUES, vmin=0, vmax=1.25)
    height, width = mask.shape
    axis.set_xticks([x - 0.5 for x in range(width)], minor=True)
    axis.set_yticks([y - 0.5 for y in range(height)], minor=True)
    axis.grid(which="minor", color=colours.line, linewidth=0.3)
    axis.tick_params(which="both", length=0, labelbottom=False, labelleft=False)
    axis.set_xlabel(say("who is looked at"))
    axis.set_ylabel(say("who asks"))
    axis.set_title(say(title))


def draw_cells(
    axis: Axes, numbers: Tensor, owners: Tensor, title: str, gaps: tuple[int, ...] = ()
) -> None:
    """Draw a table of whole numbers, each in the colour of its owner.

    Shapes: numbers and owners (rows, columns); ``gaps`` lists rows that begin a block.
    """
    fills = (colours.pale, colours.sand, colours.green, colours.rose)
    rows, columns = numbers.shape
    for i in range(rows):
        y = -i - 0.5 * sum(i >= gap for gap in gaps)
        for j in range(columns):
            fill = fills[int(owners[i, j]) % len(fills)]
            text = str(int(numbers[i, j]))
            _box(axis, j, y, text, fill, width=0.9, height=0.9)
    bottom = -rows - 0.5 * len(gaps)
    axis.set(xlim=(-0.7, columns - 0.3), ylim=(bottom, 0.7), aspect="equal")
    axis.set_title(say(title), size=10)
    axis.axis("off")


def draw_flow() -> Figure:
    """Draw self-attention as a flow from the input to the outputs."""
    figure, axis = _canvas(7.4, 3.2)
    _box(axis, 0.7, 1.6, f"{say('input')}\n$X$", colours.sand)
    rows = {2.7: ("queries", "Q"), 1.6: ("keys", "K"), 0.5: ("values", "V")}
    for y, (name, symbol) in rows.items():
        text = f"{say(name)}\n${symbol} = X W_{symbol.lower()}$"
        _box(axis, 2.45, y, text, colours.pale)
        _arrow(axis, (1.3, 1.6 + (y - 1.6) / 6), (1.85, y))
    _box(axis, 4.1, 2.15, f"{say('scores')}\n$Q K^\\top$", colours.green)
    _box(axis, 5.7, 2.15, f"{say('weights')}\nsoftmax", colours.green)
    _box(axis, 6.7, 0.7, f"{say('outputs')}\n$A V$", colours.rose)
    _arrow(axis, (3.05, 2.7), (3.5, 2.3))
    _arrow(axis, (3.05, 1.6), (3.5, 2.0))
    _arrow(axis, (4.7, 2.15), (5.1, 2.15))
    _arrow(axis, (6.0, 1.84), (6.5, 1.01))
    _arrow(axis, (3.05, 0.5), (6.1, 0.62))
    return figure


def draw_transformer() -> Figure:
    """Draw the Transformer of 2017: an encoder, a decoder, and their pieces."""
    figure, axis = _canvas(6.6, 6.4)
    encoder = [
        "self-attention",
        "residual and norm",
        "feed-forward",
        "residual and norm",
    ]
    decoder = ["masked self-attention", "residual and norm", "cross-attention"]
    decoder += ["residual and norm", *encoder[2:]]
    tops = [
        _column(axis, 1.5, "source tokens", encoder, "encoder"),
        _column(axis, 5.0, "target tokens", decoder, "decoder"),
    ]
    over, cross = tops[0] + 0.25, 2.76
    path = [1.5, 1.5, 3.3, 3.3], [tops[0], over, over, cross]
    axis.plot(*path, color=colours.line, linewidth=1)
    _arrow(axis, (3.3, cross), (3.98, cross))
    _box(axis, 5.0, 5.55, say("probabilities"), colours.rose, width=2.0, height=0.36)
    _box(axis, 5.0, 6.15, say("next token"), colours.sand, width=2.0, height=0.36)
    _arrow(axis, (5.0, tops[1]), (5.0, 5.36))
    _arrow(axis, (5.0, 5.74), (5.0, 5.96))
    return figure


def draw_translators() -> Figure:
    """Draw a decoder behind one context vector, and one that looks at every state."""
    figure, axis = _canvas(7.4, 3.3)
    for left, title in ((0.0, "one context for all steps"), (3.8, "one for each step")):
        states = [left + 0.55 + 0.75 * i for i in range(4)]
        steps = [left + 0.92 + 0.75 * i for i in range(3)]
        middle = (states[0] + states[-1]) / 2
        for x, name in [*zip(states, "1234", strict=True)]:
            small = {"width": 0.5, "height": 0.42}
            _box(axis, x, 0.3, f"$s_{name}$", colours.pale, **small)
        for x, name in zip(steps, "123", strict=True):
            _box(axis, x, 2.5, f"$h_{name}$", colours.green, width=0.5, height=0.42)
        for row, y in ((states, 0.3), (steps, 2.5)):
            for one, next_one in pairwise(row):
                _arrow(axis, (one + 0.25, y), (next_one - 0.25, y))
        _box(axis, middle, 1.4, say("context"), colours.rose, width=1.0, height=0.42)
        axis.text(left + 0.3, 3.0, say(title), size=9.5, color=colours.soft)
        if left == 0:
            _arrow(axis, (states[-1], 0.51), (middle + 0.4, 1.19))
            for x in steps:
                _arrow(axis, (middle, 1.61), (x, 2.29))
            continue
        for x, weight in zip(states, (0.8, 1.4, 5.0, 1.0), strict=True):
            line = {"color": colours.blue, "linewidth": weight, "alpha": 0.8}
            axis.plot([x, middle], [0.51, 1.19], solid_capstyle="round", **line)
        _arrow(axis, (middle, 1.61), (steps[1], 2.29))
    return figure


def draw_residual_orders() -> Figure:
    """Draw the two orders of a layer: the norm after the sum, and before the layer."""
    figure, axis = _canvas(7.4, 3.3)
    post = {2.65: ("sub-layer", colours.green), 5.5: ("norm", colours.sand)}
    pre = {2.0: ("norm", colours.sand), 3.6: ("sub-layer", colours.green)}
    rows = [(2.25, "post-norm", post, 4.1), (0.6, "pre-norm", pre, 5.2)]
    for y, name, boxes, plus in rows:
        axis.text(0.1, y + 0.85, say(name), size=10, weight="bold", color=colours.ink)
        stops = [(0.45, 0.35), *((x, 0.6) for x in boxes), (plus, 0.16), (6.9, 0.35)]
        for (left, before), (right, after) in itertools.pairwise(sorted(stops)):
            _arrow(axis, (left + before, y), (right - after, y))
        for x, (text, fill) in boxes.items():
            _box(axis, x, y, say(text), fill, height=0.5)
        for x, text in ((0.45, "$x$"), (6.9, "$y$")):
            _box(axis, x, y, text, colours.pale, width=0.7, height=0.5)
        around = [1.05, 1.05, plus, plus], [y, y + 0.6, y + 0.6, y + 0.3]
        axis.plot(*around, color=colours.blue, linewidth=1.6)
        _arrow(axis, (plus, y + 0.35), (plus, y + 0.16))
        circle = plt.Circle((plus, y), 0.16, fill=False, color=colours.blue)
        axis.add_patch(circle)
        axis.text(plus, y, "+", ha="center", va="center", color=colours.ink)
    return figure


def draw_steps(axis: Axes, x: Tensor, y: Tensor, across: str, up: str) -> None:
    """Draw whole numbers over whole numbers as stairs.

    Shapes: x and y (points,).
    """
    axis.step(x.tolist(), y.tolist(), where="mid", color=colours.blue, linewidth=1.4)
    axis.set_xlabel(say(across))
    axis.set_ylabel(say(up))
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def draw_tree(words: list[str], heads: list[int], below: list[int]) -> Figure:
    """Draw a dependency tree as arcs over a sentence, with a number under each word.

    ``heads`` holds the place of the word that each word depends on, -1 for the root.
    """
    figure, axis = _canvas(7.0, 3.0)
    places = [0.5 + 6.0 * i / max(1, len(words) - 1) for i in range(len(words))]
    for place, head, word, number in zip(places, heads, words, below, strict=True):
        axis.text(place, 0.55, word, ha="center", size=11, color=colours.ink)
        axis.text(place, 0.15, number, ha="center", size=10, color=colours.soft)
        if head == -1:
            _arrow(axis, (place, 2.85), (place, 0.9))
            continue
        middle, half = (place + places[head]) / 2, abs(place - places[head]) / 2
        turns = [math.pi * step / 40 for step in range(41)]
        height = min(1.7, 0.55 * half + 0.35)
        xs = [middle + half * math.cos(turn) for turn in turns]
        ys = [0.9 + height * math.sin(turn) for turn in turns]
        axis.plot(xs, ys, color=colours.blue, linewidth=1.3)
        axis.plot(place, 0.92, marker="v", color=colours.blue, markersize=5)
    return figure


def _column(axis: Axes, x: float, tokens: str, layers: list[str], name: str) -> float:
    """Draw one stack from its tokens upwards; give the height at which it ends."""
    fills = {"residual and norm": colours.sand, "feed-forward": colours.green}
    _box(axis, x, 0.25, say(tokens), colours.sand, width=2.0, height=0.36)
    foot = f"{say('embedding')} + {say('positions')}"
    _box(axis, x, 0.95, foot, colours.rose, width=2.2, height=0.36)
    _arrow(axis, (x, 0.44), (x, 0.76))
    _arrow(axis, (x, 1.14), (x, 1.62))
    bottom, step = 1.82, 0.47
    for i, layer in enumerate(layers):
        fill = fills.get(layer, colours.pale)
        _box(axis, x, bottom + i * step, say(layer), fill, width=2.0, height=0.36)
    top = bottom + (len(layers) - 1) * step + 0.3
    frame = (x - 1.15, bottom - 0.32)
    axis.add_patch(
        FancyBboxPatch(
            frame, 2.3, top - frame[1], boxstyle="round,pad=0,rounding_size=0.12",
            facecolor="none", edgecolor=colours.line, linestyle=(0, (4, 3)),
        )
    )  # fmt: skip
    axis.text(x - 1.1, top + 0.08, f"{say(name)} × N", size=9, color=colours.soft)
    return top


def _canvas(width: float, height: float) -> tuple[Figure, Axes]:
    figure, axis = plt.subplots(figsize=(width, height))
    axis.set(xlim=(0, width), ylim=(0, height), aspect="equal")
    axis.axis("off")
    return figure, axis


def _box(axis, x, y, text, fill, *, width=1.2, height=0.62) -> None:
    axis.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2), width, height,
            boxstyle="round,pad=0,rounding_size=0.08",
            facecolor=fill, edgecolor=colours.line, linewidth=0.8,
        )
    )  # fmt: skip
    axis.text(x, y, text, ha="center", va="center", size=9.5, color=colours.ink)


def _arrow(axis, start, end) -> None:
    style = {"arrowstyle": "-|>", "color": colours.line, "shrinkA": 0, "shrinkB": 0}
    axis.annotate("", end, start, arrowprops=style)
