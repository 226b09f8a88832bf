"""The shape tracer: follow a tensor through split, attention and merge."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from book.visuals.elements import Element, plain_table
from solutions.multi_head import MultiHeadAttention

LARGEST = 96  # numbers of one sentence that can still be read
CUTS = {"reshape", "view", "unflatten"}
COPIES = {"clone", "contiguous", "detach", "to", "float", "type_as"}


@dataclass(eq=False)
class Call:
    """One call of a part while the module ran: what went in and what came out."""

    name: str
    inputs: tuple
    options: dict
    output: Tensor
    part: Callable | None = None


@dataclass
class Run:
    """What was called, in order, while the module ran once."""

    calls: list[Call] = field(default_factory=list)

    def recording(self, name: str, part: Callable) -> Callable:
        """Wrap a function so that its calls are kept."""

        def call(*inputs, **options):
            output = part(*inputs, **options)
            self.calls.append(Call(name, inputs, options, output, part))
            return output

        return call

    def first(self, name: str) -> Call | None:
        """Give the first call of a part, or None."""
        return next((call for call in self.calls if call.name == name), None)


class Moves(TorchFunctionMode):
    """Keep every step that puts the numbers of a tensor into another order or shape."""

    def __init__(self, numbers: Tensor):
        super().__init__()
        self.count, self.steps = numbers.numel(), []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        moved = isinstance(result, Tensor) and result.numel() == self.count
        if moved and not name.startswith("__") and name not in COPIES:
            self.steps.append((name, result.detach().clone()))
        return result


def shape_tracer(
    module: nn.Module | None = None,
    x: Tensor | None = None,
    *,
    batch: int = 1,
    seq: int = 4,
    d_model: int = 6,
    num_heads: int = 3,
    caption: str = "A tensor on its way through the heads",
) -> Element:
    """Run a module once and let the reader follow its shapes, and each number, through.

    The module is your own multi-head attention. It must call ``split_heads`` and
    ``merge_heads``, so that the two can be watched; what each does is then repeated
    with numbered cells, step by step, and a number in the wrong place is marked.
    Without a module the reference is run, with ``batch``, ``seq``, ``d_model`` and
    ``num_heads``. Shapes: x (batch, seq, d_model); the first sentence is drawn.
    Raises ValueError when x does not fit, when a sentence has more numbers than can
    be read, or when the module splits or merges nothing.
    """
    if module is None:
        module = MultiHeadAttention(d_model, num_heads)
    if x is None:
        if min(batch, seq, d_model) < 1:
            raise ValueError(
                f"batch, seq, d_model are {batch}, {seq}, {d_model}; expected numbers "
                "above 0."
            )
        x = torch.randn(batch, seq, d_model)
    if x.dim() != 3 or 0 in x.shape:
        raise ValueError(
            f"x has shape {tuple(x.shape)}; expected (batch, seq, d_model), with at "
            "least one number."
        )
    run = _run(module, x)
    steps = _steps(run, x)
    data = {"caption": caption, "seq": x.shape[1], "steps": steps}
    rows = ([step["name"], step["what"], _written(step["shape"])] for step in steps)
    table = plain_table(caption, ["step", "what happens", "shape"], rows)
    return Element("shape-tracer", data, table)


def _written(shape: list[int]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


@contextmanager
def _replaced(place: dict, name: str, part: Callable) -> Iterator[None]:
    """Put another function under a name for a while."""
    before = place[name]
    place[name] = part
    try:
        yield
    finally:
        place[name] = before


def _run(module: nn.Module, x: Tensor) -> Run:
    """Run the module once with its parts watched; leave it as it was."""
    forward = inspect.unwrap(type(module).forward)
    names = getattr(forward, "__globals__", {})
    kind = type(module).__name__
    for part in ("split_heads", "merge_heads"):
        if not callable(names.get(part)):
            raise ValueError(
                f"{kind}.forward knows no function {part}; expected a module that "
                "calls split_heads and merge_heads, as chapter 03 builds it."
            )
    run = Run()
    with ExitStack() as watched:
        for part in ("split_heads", "merge_heads"):
            wrapped = run.recording(part, names[part])
            watched.enter_context(_replaced(names, part, wrapped))
        attend = vars(module).get("attend")
        if callable(attend):
            wrapped = run.recording("attend", attend)
            watched.enter_context(_replaced(vars(module), "attend", wrapped))
        elif callable(names.get("attention")):
            wrapped = run.recording("attend", names["attention"])
            watched.enter_context(_replaced(names, "attention", wrapped))
        for name, child in module.named_children():

            def keep(_, inputs, output, name=name):
                if isinstance(output, Tensor):
                    run.calls.append(Call(f"child {name}", inputs, {}, output))

            handle = child.register_forward_hook(keep)
            watched.callback(handle.remove)
        with torch.no_grad():
            module(x)
    for part in ("split_heads", "merge_heads"):
        if run.first(part) is None:
            raise ValueError(
                f"{kind} never called {part}; expected one call at least. "
                "Does it cut the heads in another way?"
            )
    return run


def _steps(run: Run, x: Tensor) -> list[dict]:
    """Tell what the run did as a list of steps with shapes and numbered cells."""
    split, merge = run.first("split_heads"), run.first("merge_heads")
    attend = run.first("attend")
    into = split.inputs[0]
    width = into.shape[-1]
    if into[0].numel() > LARGEST:
        raise ValueError(
            f"a sentence has {into[0].numel()} numbers (seq x d_model); expected at "
            f"most {LARGEST}. Pass fewer tokens or a narrower module."
        )
    numbered = torch.arange(1.0, into.numel() + 1).view(into.shape)
    steps = [_step("x", "input", x.shape, None)]
    maker = next((call.name for call in run.calls if call.output is into), None)
    if maker or into is not x:
        name = f"{maker.removeprefix('child ')}(x)" if maker else "projected"
        steps.append(_step(name, "project", into.shape, numbered, width))

    heads, moves = _moved(split, numbered)
    for name, t in moves:
        what = "cut" if name in CUTS else "split"
        steps.append(_step(name, what, t.shape, t, width))
    if not moves or not torch.equal(moves[-1][1], heads):
        steps.append(_step("split_heads", "split", heads.shape, heads, width))
    steps[-1]["what"] = "heads"

    found = merge.inputs[0]
    if attend:
        query, key = attend.inputs[:2]
        shape = (*query.shape[:-1], key.shape[-2])
        steps.append(_step("scores", "scores", shape, None))
    in_place = heads.contiguous()
    if in_place.shape != found.shape:
        in_place = torch.arange(1.0, found.numel() + 1).view(found.shape)
    steps.append(_step("attend", "attend", found.shape, in_place, width))

    merged, moves = _moved(merge, in_place)
    steps += [_step(name, "merge", t.shape, t, width) for name, t in moves]
    if not moves or not torch.equal(moves[-1][1], merged):
        steps.append(_step("merge_heads", "merge", merged.shape, merged, width))
    steps[-1]["what"] = "joined"
    after = run.calls[run.calls.index(merge) + 1 :]
    if after:
        last = after[-1]
        name = last.name.removeprefix("child ")
        steps.append(_step(name, "mix", last.output.shape, None))
    return steps


def _moved(call: Call, numbered: Tensor) -> tuple[Tensor, list[tuple[str, Tensor]]]:
    """Repeat a split or a merge with numbered cells; give the result and its steps."""
    with Moves(numbered) as moves:
        result = call.part(numbered, *call.inputs[1:], **call.options)
    return result, moves.steps


def _step(name, what, shape, numbers: Tensor | None, width: int = 0) -> dict:
    """Describe one step; the cells are those of the first sentence."""
    step = {"name": name, "what": what, "shape": list(shape)}
    if numbers is not None and numbers.dim() in (3, 4):
        step |= {"cells": numbers[0].long().tolist(), "width": width}
    return step
