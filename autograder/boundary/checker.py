"""The checker: a trusted process that runs test cells against stand-ins."""

import ast
import builtins
import contextlib
import io
import socket
import sys
import traceback
from numbers import Real

import numpy
from torch import Tensor

from autograder.boundary.channel import Channel, Gone, WireError
from autograder.boundary.proxy import PRINTED, Learner
from exercises import checks


class Names(dict):
    """The names of the test cells: their own, Python's, then the learner's.

    A learner can therefore not replace a function that a test uses.
    """

    def __init__(self, learner: Learner):
        super().__init__(__name__="__main__")
        self.learner = learner

    def __missing__(self, name: str):
        if hasattr(builtins, name):
            return getattr(builtins, name)
        return self.learner.look(name)


def serve(control: socket.socket, beside: socket.socket, seconds: float) -> None:
    """Run the cells that the grader sends, and answer with what each of them said."""
    grader, learner = Channel(control), Learner(Channel(beside), seconds)
    names = Names(learner)
    while True:
        try:
            request, _ = grader.receive()
        except Gone:
            return
        reply = run_cell(request["source"], names)
        if request["serves"]:
            with contextlib.suppress(Exception):
                reply["answers_printed"] = learner.done()
        try:
            grader.send(reply | {"ended": learner.ended})
        except (WireError, ValueError) as error:
            grader.send({"error": _said(RuntimeError(f"too long a report: {error}"))})


def run_cell(source: str, names: dict) -> dict:
    """Run one cell; give its text, its displays, its last value and its error."""
    printed, displays = io.StringIO(), []
    checks.DISPLAY = lambda text, data: displays.append((text, data))
    reply: dict = {"displays": displays, "error": None, "value": None}
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            reply["value"] = _number(_run(source, names))
        except (Exception, SystemExit) as error:
            reply["error"] = _said(error)
        finally:
            checks.DISPLAY = None
    _keep_library()
    return reply | {"printed": printed.getvalue()[:PRINTED]}


def _keep_library() -> None:
    """Let test cells import this check library, not the copy in a notebook."""
    carried = sys.modules.get("checks", checks)
    if carried is not checks:
        checks.MISTAKES.update(getattr(carried, "MISTAKES", {}))
        sys.modules["checks"] = checks


def _run(source: str, names: dict):
    """Run a cell and give the value of its last line, if that is an expression."""
    tree = ast.parse(source, "<test>")
    last = (
        tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    )
    exec(compile(tree, "<test>", "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "<test>", "eval"), names)


def _number(value):
    """Reduce a cell's value to what partial credit can be read from.

    A truth value is none: a test that ends with one has compared, not counted. Texts
    are not told, since they may come from a hidden test.
    """
    if value is None:
        return None
    if isinstance(value, (Tensor, numpy.ndarray, numpy.generic)):
        with contextlib.suppress(RuntimeError, ValueError):  # of many items
            value = value.item()
    if isinstance(value, Real) and not isinstance(value, bool):
        return {"number": repr(float(value))}
    kind = type(value).__name__[:80]
    return {"text": repr(value) if isinstance(value, bool) else f"a {kind}"}


def _said(error: BaseException) -> dict:
    """Describe an exception as a notebook's error output does."""
    if hasattr(error, "_render_traceback_"):
        lines = error._render_traceback_()
    else:
        lines = traceback.format_exception(error)[-6:]
    name = type(error).__name__
    return {"ename": name, "evalue": str(error)[:2000], "traceback": lines}
