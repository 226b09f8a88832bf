"""The check library: what a test cell says, and how it says it.

A test cell makes one :class:`Check`, states properties in ``with`` blocks, and ends
with ``check.report()``. Every property is tried, whatever the others did. A property
says what was expected and what came, shapes first. Where an answer is a known wrong
one, the report names the mistake.

A test hands plain tensors, numbers, strings, lists and dicts to the learner's
functions and classes, and gets the same back. Gradients and weights go through
:func:`gradient` and :func:`set_weights`, so that a test never needs the learner's
objects themselves.
"""

import functools
import linecache
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from types import SimpleNamespace

import torch
from torch import Tensor, nn

from exercises.mistakes import MIME, find_mistake

#: Every sentence that a learner reads, in one place that can be translated.
TEXT = {
    "holds": "{held} of {total} properties hold",
    "yes": "yes",
    "no": "NO ",
    "hidden": "a hidden property",
    "mistake": "This looks like a known mistake: {sentence}",
    "section": "Chapter {chapter} explains it under “{section}”.",
    "needs": "This may also use your {name}, whose own check fails: mend that first.",
    "missing": "this cell is not written yet",
    "none": "expected a tensor, got None: is a `return` missing?",
    "kind": "expected a tensor, got {kind}",
    "shape": "shape: expected {expected}, got {actual}",
    "bad": "values: {count} of {total} are NaN or infinite",
    "dtype": "dtype: expected {expected}, got {actual}",
    "device": "device: expected {expected}, got {actual}",
    "value": "values: at {index} expected {expected:.6g}, got {actual:.6g} "
    "({wrong} of {total} differ, by at most {gap:.3g})",
    "number": "expected {expected}, got {actual}",
    "changed": "input {position} was changed in place: make a new tensor, "
    "as in `s = s - m`",
    "no_raise": "expected an error, and none was raised",
    "no_weights": "no weights named {name}: found {found}; rename them",
    "weight_shape": "weights {name}: expected shape {expected} for x @ {name}, "
    "got {actual}",
    "no_gradient": "no gradient reaches input {position}",
    "unlearned": "no finite gradient reaches {names}: training would not work",
    "choice": "expected one of {choices}, got {actual!r}",
    "not_chosen": "not the right choice",
    "length": "expected {expected} results, got {actual}",
    "error": "{kind}: {message}{where}",
    "where": " (in {function}, line {line}: {code})",
    "failed": "{name}: {failed} of {total} properties fail; see the report above",
}

#: How many numbers a result may have of which sums are taken.
SKETCHED = 1_000_000

#: Known mistakes of each check, filled in by the set-up cell of the notebook.
MISTAKES: dict[str, list[dict]] = {}

#: Where the grader's checker takes results; a notebook displays them, a shell prints.
DISPLAY = None

#: The last result of each check that has reported, by name.
REPORTED: dict[str, dict] = {}


class Mismatch(AssertionError):
    """A result that is not the expected one, with the numbers that came."""

    def __init__(self, problems: list[str], outcome: dict):
        super().__init__("\n".join(problems))
        self.outcome = outcome


class CheckFailed(AssertionError):
    """The verdict of a failing check, shown in one line instead of a traceback."""

    def _render_traceback_(self):
        return [f"{type(self).__name__}: {self}"]


class Check:
    """One check of one piece: properties, their outcomes, and a report.

    ``name`` is the grade id of the test cell; ``needs`` lists checks of earlier
    pieces that this one builds on, so that the report can say where to begin.
    """

    def __init__(self, name: str, needs: tuple[str, ...] = ()):
        self.name = name
        self.needs = needs
        self.properties: list[dict] = []

    def __call__(self, label: str):
        """State a property that the learner sees: ``with check("rows sum to one")``."""
        return self._property(label, hidden=False)

    def hidden(self, label: str):
        """State a property of which the learner sees the label only."""
        return self._property(label, hidden=True)

    @contextmanager
    def _property(self, label: str, hidden: bool):
        result = {"label": label, "hidden": hidden, "passed": True}
        try:
            with redirect_stderr(sys.stdout):
                yield
        except (Exception, SystemExit) as error:
            result |= {"passed": False, "outcome": outcome_of(error)}
            result["message"] = "" if hidden else explain(error)
        self.properties.append(result)

    def report(self) -> None:
        """Show every property, and raise :class:`CheckFailed` if one does not hold."""
        failed = [p for p in self.properties if not p["passed"]]
        result = {
            "check": self.name,
            "passed": not failed,
            "properties": self.properties,
            "mistake": find_mistake(self.properties, MISTAKES.get(self.name, [])),
        }
        REPORTED[self.name] = result
        show(result, [need for need in self.needs if _fails(need)])
        if failed:
            count = {"failed": len(failed), "total": len(self.properties)}
            raise CheckFailed(TEXT["failed"].format(name=self.name, **count))


# --- what a test cell calls ---------------------------------------------------------


def same(actual, expected, tolerance: float | None = None) -> None:
    """Require ``actual`` to equal ``expected``: shape, no NaN, dtype, device, values.

    Both may be tensors, numbers, or lists and tuples of them. The default tolerance
    follows the dtype. A wider floating dtype than the expected one is accepted, and
    so are whole numbers of any width.
    Raises Mismatch with every problem found.
    """
    if isinstance(expected, (list, tuple)):
        _same_items(actual, expected, tolerance)
    elif isinstance(expected, Tensor):
        _same_tensor(actual, expected, tolerance)
    elif not _close(actual, expected, tolerance or 1e-6):
        text = TEXT["number"].format(expected=expected, actual=actual)
        raise Mismatch([text], {"kind": "number", "got": repr(actual)})


def finite(actual: Tensor) -> None:
    """Require a tensor without NaN and without infinity."""
    actual = _plain(actual)
    bad = int((~torch.isfinite(actual)).sum())
    if bad:
        text = TEXT["bad"].format(count=bad, total=actual.numel())
        raise Mismatch([text], {"kind": "nan", "shape": list(actual.shape)})


def unchanged(function, *inputs):
    """Call ``function(*inputs)``, require the inputs to be as before, give its result.

    Inputs that are no tensors, such as a size, are passed on as they are.
    Raises Mismatch naming the first input that was changed in place.
    """
    copies = [_copy(value) for value in inputs]
    result = function(*copies)
    for position, (before, after) in enumerate(zip(inputs, copies, strict=True), 1):
        if not isinstance(before, Tensor):
            continue
        same_kind = before.requires_grad == after.requires_grad
        if not (torch.equal(before, after) and same_kind):
            text = TEXT["changed"].format(position=position)
            raise Mismatch([text], {"kind": "changed", "position": position})
    return result


@contextmanager
def raises(kind: type[Exception]):
    """Require that an error of a kind is raised: ``with raises(ValueError): ...``.

    Raises Mismatch when none is; another error goes on its way.
    """
    try:
        yield
    except kind:
        return
    raise Mismatch([TEXT["no_raise"]], {"kind": "no raise"})


def beside(function):
    """Run a function where its first argument lives, on this side or the other.

    The grader keeps learners' objects in another process; a stand-in for one of them
    has ``__beside__``.
    """

    @functools.wraps(function)
    def run(target, *args, **kwargs):
        if hasattr(type(target), "__beside__"):
            return target.__beside__(function.__name__, args, kwargs)
        return function(target, *args, **kwargs)

    return run


@beside
def gradient(function, *inputs, wrt: int = 0, sublayer: Tensor | None = None) -> Tensor:
    """Give the gradient of a fixed weighted sum of what ``function(*inputs)`` gives.

    ``wrt`` is the place of the input, a tensor, from 0. A function that takes a
    sub-layer gets that of :func:`with_sublayer` with the matrix ``sublayer``.
    Shapes: as that input.
    Raises Mismatch when no gradient reaches it.
    """
    leaves = [_copy(value) for value in inputs]
    leaves[wrt].requires_grad_(True)
    if sublayer is None:
        result = function(*leaves)
    else:
        result = with_sublayer(function, sublayer, *leaves)
    total = _sum_of(result)
    if total.requires_grad:
        (found,) = torch.autograd.grad(total, leaves[wrt], allow_unused=True)
        if found is not None:
            return found
    text = TEXT["no_gradient"].format(position=wrt + 1)
    raise Mismatch([text], {"kind": "no gradient"})


def _copy(value):
    return value.clone() if isinstance(value, Tensor) else value


def _sum_of(result) -> Tensor:
    """Weigh all that a function gave with fixed numbers, and add it up."""
    outputs = [result] if isinstance(result, Tensor) else list(result)
    return sum(
        _weighted_sum(_plain(item), 99 + place)
        for place, item in enumerate(outputs)
        if item is not None
    )


def _weighted_sum(output: Tensor, seed: int) -> Tensor:
    near = {"dtype": output.dtype, "device": output.device}
    return (output * numbers(*output.shape, seed=seed, **near)).sum()


@beside
def weight_gradients(layer: nn.Module, *inputs: Tensor) -> dict[str, Tensor]:
    """Give the gradients of the sum that :func:`gradient` takes, by weights, by name.

    Shapes: each as its weight; zeros where no gradient comes.
    """
    weights = dict(layer.named_parameters(remove_duplicate=False))
    total = _sum_of(layer(*inputs))
    if not (weights and total.requires_grad):
        return {name: torch.zeros_like(weight) for name, weight in weights.items()}
    options = {"allow_unused": True, "materialize_grads": True}
    found = torch.autograd.grad(total, list(weights.values()), **options)
    return {n: slope.to_dense() for n, slope in zip(weights, found, strict=True)}


def told_and_measured(layer: nn.Module, *inputs: Tensor, by: list[str]) -> tuple:
    """Give how fast the sum of :func:`gradient` changes with some weights, twice.

    First as the gradients tell, then as two small steps of each weight measure it;
    the layer is one in double precision. Where a way back is cut off, the two differ.
    Shapes: (number of weights,) each.
    """
    named = dict(layer.named_parameters(remove_duplicate=False))
    slopes = weight_gradients(layer, *inputs)
    told, measured, step = [], [], 1e-5
    for name in by:
        before = named[name].detach().clone()
        way = numbers(*before.shape, seed=97, dtype=before.dtype)
        told.append((slopes[name] * way).sum())
        ends = []
        for move in (step, -step):
            set_weights(layer, **{name: before + move * way})
            ends.append(_sum_of(layer(*inputs)).detach())
        set_weights(layer, **{name: before})
        measured.append((ends[0] - ends[1]) / (2 * step))
    return torch.stack(told), torch.stack(measured)


@beside
def times_run(function, model: nn.Module, part: str, *inputs) -> tuple:
    """Give ``function(model, *inputs)``, and how often it ran a part of the model."""
    runs = []
    hook = getattr(model, part).register_forward_hook(lambda *_: runs.append(part))
    try:
        return function(model, *inputs), len(runs)
    finally:
        hook.remove()


def learns(layer: nn.Module, *inputs: Tensor) -> None:
    """Require that training on ``layer(*inputs)`` would change all its parameters.

    Raises Mismatch naming the parameters that no gradient reaches.
    """
    found = weight_gradients(layer, *inputs)
    still = sorted(
        name
        for name, slope in found.items()
        if not (slope.any() and slope.isfinite().all())
    )
    if still or not found:
        names = ", ".join(still) or "the layer: it has no parameters"
        outcome = {"kind": "unlearned", "got": still}
        raise Mismatch([TEXT["unlearned"].format(names=names)], outcome)


@beside
def set_weights(layer: nn.Module, **weights: Tensor) -> None:
    """Copy matrices into a layer by name, each meant as in ``x @ W``.

    A name may belong to an ``nn.Linear`` or to a bare parameter, and may have dots:
    ``**{"norm.gain": ...}``; ``W_q, W_k, W_v`` may also live side by side in one
    ``W_qkv``. Shapes: (d_in, d_out).
    Raises Mismatch when a name is missing or a shape does not fit.
    """
    parameters = dict(layer.named_parameters(remove_duplicate=False))
    if {"W_qkv", "W_qkv.weight"} & parameters.keys() and "W_q" in weights:
        fused = [weights.pop(name) for name in ("W_q", "W_k", "W_v")]
        weights["W_qkv"] = torch.cat(fused, dim=-1)
    with torch.no_grad():
        for name, matrix in weights.items():
            _copy_weight(name, matrix, parameters)


class SubLayer(nn.Linear):
    """A small sub-layer for tests: ``x -> times * (x @ matrix) + plus + more``."""

    def __init__(self, matrix: Tensor):
        super().__init__(*matrix.shape, bias=False, device=matrix.device)
        self.weight = nn.Parameter(matrix.detach().clone().T)

    def forward(self, x: Tensor, plus=0.0, more=0.0, *, times: float = 1.0):
        """Multiply by the matrix; more may be asked by place and by name."""
        return times * super().forward(x) + plus + more


@beside
def with_sublayer(target, matrix: Tensor, *args, **options):
    """Call a function or class that takes a sub-layer as its last argument.

    The sub-layer is ``x -> x @ matrix``, with a second input ``plus`` and an option
    ``times`` for what is handed on to it; ``args`` come before it, ``options`` after.
    Shapes: matrix (d_model, d_model). Gives what ``target`` gives.
    """
    return target(*args, SubLayer(matrix), **options)


@beside
def with_embedding(target, table: Tensor) -> tuple:
    """Call a function or class that takes an ``nn.Embedding`` holding ``table``.

    Gives what ``target`` gives, and the embedding that it was given.
    Shapes: table (vocab_size, d_model).
    """
    embedding = nn.Embedding.from_pretrained(table.detach().clone(), freeze=False)
    return target(embedding), embedding


@beside
def with_fields(target, fields: dict, *args, **options):
    """Call a function whose first argument is an object with fields, such as a card.

    ``fields`` are plain values by name; ``args`` come after the object. Gives what
    ``target`` gives.
    """
    return target(SimpleNamespace(**fields), *args, **options)


def filled(layer: nn.Module, seed: int = 0) -> nn.Module:
    """Give one of PyTorch's layers the same weights wherever a check is run."""
    with torch.no_grad():
        for place, parameter in enumerate(layer.parameters(), seed):
            parameter.copy_(numbers(*parameter.shape, seed=place, scale=0.5))
    return layer


def torch_layer(kind: type, *sizes: int, seed: int = 0, **options) -> nn.Module:
    """Make one of PyTorch's encoder or decoder layers with drawn weights.

    ``sizes`` are d_model, num_heads and d_ff. There is no dropout, and no bias in the
    attentions, so that it can be compared with the course's layers.
    """
    layer = filled(kind(*sizes, dropout=0.0, batch_first=True, **options), seed)
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            if "attn" in name and "bias" in name:
                parameter.zero_()
            if "norm" in name and "weight" in name:
                parameter += 1
    return layer


def torch_weights(layer: nn.Module) -> dict[str, Tensor]:
    """Give the weights of such a layer under the course's names, for set_weights."""
    places = {"attention": layer.self_attn}
    if hasattr(layer, "multihead_attn"):
        places["cross_attention"] = layer.multihead_attn
    named = {}
    for place, found in places.items():
        matrices = [*found.in_proj_weight.chunk(3), found.out_proj.weight]
        for name, matrix in zip(("W_q", "W_k", "W_v", "W_o"), matrices, strict=True):
            named[f"{place}.sublayer.{name}"] = matrix.detach().T
    for number, linear in enumerate((layer.linear1, layer.linear2), 1):
        named[f"feed_forward.sublayer.W_{number}"] = linear.weight.detach().T
        named[f"feed_forward.sublayer.W_{number}.bias"] = linear.bias.detach()
    for number, place in enumerate([*places, "feed_forward"], 1):
        norm = getattr(layer, f"norm{number}")
        named[f"{place}.norm.gain"] = norm.weight.detach()
        named[f"{place}.norm.bias"] = norm.bias.detach()
    return named


def one_of(actual, choices: str) -> None:
    """Require an answer that is one of the letters of ``choices``, large or small."""
    if _letter(actual) not in list(choices):
        text = TEXT["choice"].format(choices=", ".join(choices), actual=actual)
        raise Mismatch([text], {"kind": "choice", "got": str(actual)[:20]})


def chosen(actual, right: str) -> None:
    """Require the right letter."""
    if _letter(actual) != right:
        outcome = {"kind": "choice", "got": _letter(actual)}
        raise Mismatch([TEXT["not_chosen"]], outcome)


def _letter(answer) -> str:
    return answer.strip().lower()[:20] if isinstance(answer, str) else ""


def numbers(*shape, seed=0, scale=1.0, dtype=torch.float32, device="cpu") -> Tensor:
    """Give the same normal random numbers for the same seed, whatever ran before.

    Shapes: () -> shape. The global generator is neither read nor moved.
    """
    generator = torch.Generator(device="cpu").manual_seed(seed)
    drawn = torch.randn(shape, generator=generator, dtype=torch.float64, device="cpu")
    return (drawn * scale).to(device=device, dtype=dtype)


def devices() -> list[str]:
    """List the devices that a check runs on: always the CPU, and a GPU if present."""
    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


# --- comparing ----------------------------------------------------------------------


def _plain(value) -> Tensor:
    """Give a tensor without its subclass, or say what came instead."""
    if not isinstance(value, Tensor):
        kind = type(value).__name__
        text = TEXT["none"] if value is None else TEXT["kind"].format(kind=kind)
        raise Mismatch([text], {"kind": "type", "got": kind})
    return value.as_subclass(Tensor)


def _same_items(actual, expected, tolerance) -> None:
    if isinstance(actual, (Tensor, Iterator)) and getattr(actual, "ndim", 1):
        actual = list(actual)  # a stack of the results, or a generator
    if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
        got = (
            len(actual) if isinstance(actual, (list, tuple)) else type(actual).__name__
        )
        text = TEXT["length"].format(expected=len(expected), actual=got)
        raise Mismatch([text], {"kind": "length", "got": str(got)})
    problems, numbers_seen = [], []
    for place, (mine, theirs) in enumerate(zip(actual, expected, strict=True), 1):
        try:
            same(mine, theirs, tolerance)
        except Mismatch as error:
            problems += [f"result {place}, {line}" for line in str(error).split("\n")]
            numbers_seen.append({"place": place, **error.outcome})
    if problems:
        raise Mismatch(problems, {"kind": "items", "items": numbers_seen})


def _same_tensor(actual, expected: Tensor, tolerance) -> None:
    actual = _plain(actual).detach()
    if actual.shape != expected.shape:
        shapes = {"expected": tuple(expected.shape), "actual": tuple(actual.shape)}
        raise Mismatch([TEXT["shape"].format(**shapes)], _outcome(actual))
    problems = []
    bad = int((~torch.isfinite(actual)).sum())
    if bad:
        problems.append(TEXT["bad"].format(count=bad, total=actual.numel()))
    if _narrower(actual.dtype, expected.dtype):
        names = {"expected": expected.dtype, "actual": actual.dtype}
        problems.append(TEXT["dtype"].format(**names))
    if actual.device.type != expected.device.type:
        places = {"expected": expected.device.type, "actual": actual.device.type}
        problems.append(TEXT["device"].format(**places))
    if not bad:
        problems += _different_values(actual, expected, tolerance)
    if problems:
        raise Mismatch(problems, _outcome(actual))


def _outcome(actual: Tensor) -> dict:
    return {"kind": "value", **sketch(actual)}


def _different_values(actual: Tensor, expected: Tensor, tolerance) -> list[str]:
    """Describe where the values differ, or give an empty list."""
    limit = tolerance or _tolerance(expected.dtype)
    mine, theirs = actual.double().cpu(), expected.detach().double().cpu()
    gap = (mine - theirs).abs()
    wrong = gap > limit * (1 + theirs.abs())
    if not wrong.any():
        return []
    worst = int(torch.where(wrong, gap, -1.0).argmax())
    index = tuple(int(i) for i in torch.unravel_index(torch.tensor(worst), gap.shape))
    facts = {
        "index": list(index),
        "expected": float(theirs[index]),
        "actual": float(mine[index]),
        "wrong": int(wrong.sum()),
        "total": gap.numel(),
        "gap": float(gap.max()),
    }
    return [TEXT["value"].format(**facts)]


def _close(actual, expected, limit: float) -> bool:
    """Compare two plain values; numbers within a limit, all else exactly."""
    numpys = type(actual).__module__ == "numpy" and hasattr(actual, "shape")
    if (numpys or isinstance(actual, Tensor)) and math.prod(actual.shape) == 1:
        actual = actual.item()
    if isinstance(expected, bool) or not isinstance(expected, (int, float)):
        return type(actual) is type(expected) and actual == expected
    if not isinstance(actual, (int, float)):
        return False
    return math.isclose(actual, expected, rel_tol=limit, abs_tol=limit)


def _tolerance(dtype: torch.dtype) -> float:
    return {
        torch.float64: 1e-9,
        torch.float16: 2e-3,
        torch.bfloat16: 2e-2,
    }.get(dtype, 1e-5)


def _narrower(actual: torch.dtype, expected: torch.dtype) -> bool:
    """Tell whether a result holds less than was asked for."""
    if expected.is_floating_point and actual.is_floating_point:
        return torch.finfo(actual).bits < torch.finfo(expected).bits
    whole = torch.int64, torch.int32, torch.int16, torch.int8
    return actual != expected and not (actual in whole and expected in whole)


def _copy_weight(name: str, matrix: Tensor, parameters: dict) -> None:
    """Copy one matrix into the parameter that holds it, transposed for a linear layer.

    A linear layer keeps (d_out, d_in); a bare parameter is used as in ``x @ W``.
    """
    inside = f"{name}.weight" in parameters
    bare = name.removesuffix(".weight")  # a table may be a bare parameter
    target = parameters.get(f"{name}.weight" if inside else name, parameters.get(bare))
    if target is None:
        found = ", ".join(parameters) or "no parameters at all"
        text = TEXT["no_weights"].format(name=name, found=found)
        raise Mismatch([text], {"kind": "weights", "got": sorted(parameters)})
    if target.ndim == 1 and 1 in matrix.shape:  # a row or a column kept as a vector
        matrix = matrix.flatten()
    source = matrix.T if inside or target.shape != matrix.shape else matrix
    if target.shape != source.shape:
        seen = target.T.shape if inside else target.shape
        shapes = {"expected": tuple(matrix.shape), "actual": tuple(seen)}
        text = TEXT["weight_shape"].format(name=name, **shapes)
        raise Mismatch([text], {"kind": "weights", "got": list(target.shape)})
    target.copy_(source)


# --- explaining ---------------------------------------------------------------------


def explain(error: BaseException) -> str:
    """Say in the learner's words what an exception means, and on which line it was."""
    if isinstance(error, Mismatch):
        return str(error)
    if isinstance(error, NotImplementedError):
        return TEXT["missing"]
    kind, message = type(error).__name__, str(error) or "no message"
    return TEXT["error"].format(kind=kind, message=message, where=_where(error))


def _where(error: BaseException) -> str:
    """Name the function and the line on which an error was raised in a cell."""
    if hasattr(error, "place"):  # it was raised in another process, which says where
        return error.place
    place, trace = None, error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_name != "<module>" and "site-packages" not in code.co_filename:
            text = linecache.getline(code.co_filename, trace.tb_lineno).strip()
            if text and code.co_filename != _where.__code__.co_filename:
                first = code.co_firstlineno - 1
                place = (code.co_name, trace.tb_lineno - first, text)
        trace = trace.tb_next
    if place is None:
        return ""
    return TEXT["where"].format(function=place[0], line=place[1], code=place[2])


def outcome_of(error: BaseException) -> dict:
    """Reduce an exception to the few facts that tell one mistake from another."""
    if isinstance(error, Mismatch):
        return error.outcome
    return {"kind": "error", "got": type(error).__name__}


def sketch(value: Tensor) -> dict:
    """Reduce a tensor to its shape and three weighted sums, enough to recognise it.

    The sums of what is not finite, or larger than any expected result, are None.
    Shapes: any -> ``{"shape": [...], "sums": [3 numbers]}``.
    """
    sums = [None] * 3
    if value.numel() <= SKETCHED and bool(torch.isfinite(value).all()):
        flat = value.detach().double().cpu().flatten()
        places = torch.arange(len(flat), dtype=torch.float64, device="cpu")
        waves = [torch.cos(places * step + step) for step in (0.7, 1.9, 3.1)]
        sums = [float(f"{float(flat @ wave):.6g}") for wave in waves]
    return {"shape": list(value.shape), "sums": sums}


# --- showing ------------------------------------------------------------------------


def _fails(name: str) -> bool:
    return name in REPORTED and not REPORTED[name]["passed"]


def lines_of(result: dict, unmet: list[str] | tuple = ()) -> list[str]:
    """Write a result as lines of text for the learner."""
    held = sum(p["passed"] for p in result["properties"])
    total = len(result["properties"])
    lines = [f"{result['check']}: " + TEXT["holds"].format(held=held, total=total)]
    for item in result["properties"]:
        mark = TEXT["yes"] if item["passed"] else TEXT["no"]
        suffix = f" ({TEXT['hidden']})" if item["hidden"] else ""
        lines.append(f"  {mark}  {item['label']}{suffix}")
        message = filter(None, item.get("message", "").split("\n"))
        lines += [f"         {line}" for line in message]
    lines += ["  " + TEXT["needs"].format(name=name) for name in unmet]
    if result["mistake"]:
        lines.append("  " + TEXT["mistake"].format(**result["mistake"]))
        if result["mistake"].get("section"):
            lines.append("  " + TEXT["section"].format(**result["mistake"]))
    return lines


def show(result: dict, unmet: list[str]) -> None:
    """Print a result, or in a notebook display it with its data beside the text."""
    text = "\n".join(lines_of(result, unmet))
    if DISPLAY is not None:
        DISPLAY(text, {MIME: result})
        return
    if "IPython" not in sys.modules or sys.modules["IPython"].get_ipython() is None:
        print(text)
        return
    sys.modules["IPython"].display.display({"text/plain": text, MIME: result}, raw=True)
