"""The residual stream: how large it is, what each layer adds, and where it points."""

from collections.abc import Mapping, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from book.visuals.elements import Element, finite, plain_table, rounded

DEEPEST = 48


def residual_stream(
    stacks: Mapping[str, Sequence[nn.Module]], x: Tensor, caption: str
) -> Element:
    """Show the stream of one or more stacks of layers, for the reader to go through.

    Each layer takes the tokens and gives them back; what it adds is what its
    ``sublayer`` gives, where it has one, and otherwise the difference. Sizes are
    lengths of the tokens' vectors, and cosines compare the stream after each layer
    with the stream at the end, for every depth; all are averages over the tokens.
    ``stacks`` maps a name, such as "pre-norm", to its layers.
    Shapes: x (..., d_model).
    Raises ValueError when there is no stack, when a stack has no layers or too many,
    or when a layer gives another shape or numbers that are not finite.
    """
    if not 1 <= len(stacks) <= 4:
        raise ValueError(f"{len(stacks)} stacks; expected from 1 to 4, by their names.")
    if x.dim() < 2 or x.numel() == 0:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (..., d_model).")
    measured = [_measured(name, layers, x) for name, layers in stacks.items()]
    data = {"caption": caption, "stacks": measured}
    return Element("residual-stream", data, _plain_table(data))


def _measured(name: str, layers: Sequence[nn.Module], x: Tensor) -> dict:
    """Run one stack and measure its stream after every layer."""
    layers = list(layers)
    if not 1 <= len(layers) <= DEEPEST:
        raise ValueError(
            f"{name} has {len(layers)} layers; expected from 1 to {DEEPEST}."
        )
    streams, added = [x.detach()], []
    for at, layer in enumerate(layers, start=1):
        y, gave = _run(layer, streams[-1])
        if not isinstance(y, Tensor) or y.shape != x.shape:
            shape = tuple(y.shape) if isinstance(y, Tensor) else type(y).__name__
            raise ValueError(
                f"layer {at} of {name} gave {shape}; expected {tuple(x.shape)}, the "
                "shape of x."
            )
        finite(f"what layer {at} of {name} gave", y.flatten().tolist())
        streams.append(y)
        added.append(_size(gave))
    cosines = []
    for depth, end in enumerate(streams):
        ways = [F.cosine_similarity(one, end, dim=-1) for one in streams[: depth + 1]]
        cosines.append([round(way.mean().item(), 3) for way in ways])
    sizes = [_size(stream) for stream in streams]
    return {"name": name, "sizes": sizes, "added": added, "cosines": cosines}


def _size(x: Tensor) -> float:
    return rounded(x.norm(dim=-1).mean().item())


@torch.no_grad()
def _run(layer: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    """Give what comes out of a layer, and what its sub-layer added."""
    sublayer, gave = getattr(layer, "sublayer", None), []
    if not isinstance(sublayer, nn.Module):
        y = layer(x)
        return y, y - x if isinstance(y, Tensor) and y.shape == x.shape else y
    handle = sublayer.register_forward_hook(lambda *call: gave.append(call[2]))
    try:
        y = layer(x)
    finally:
        handle.remove()
    return y, gave[0] if gave else y - x


def _plain_table(data: dict) -> str:
    stacks = data["stacks"]
    heads = ["layer"]
    for stack in stacks:
        heads += [f"{stack['name']}: {what}" for what in ("size", "added", "cosine")]
    rows = []
    for layer in range(max(len(stack["sizes"]) for stack in stacks)):
        row = [layer]
        for stack in stacks:
            if layer >= len(stack["sizes"]):
                row += ["", "", ""]
                continue
            gave = f"{stack['added'][layer - 1]:.2f}" if layer else ""
            cosine = f"{stack['cosines'][-1][layer]:.2f}"
            row += [f"{stack['sizes'][layer]:.2f}", gave, cosine]
        rows.append(row)
    return plain_table(data["caption"], heads, rows)
