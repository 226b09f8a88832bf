"""In the student kernel: answer the checker's requests with the learner's objects.

Nothing here is trusted by anybody. Whatever the learner's code does to this process,
all that leaves it is a message of plain values.
"""

import builtins
import contextlib
import io
import sys
import traceback

from ipykernel.jsonutil import json_clean
from torch import nn
from tornado.ioloop import IOLoop

from autograder.boundary.channel import Channel, Gone, WireError
from autograder.boundary.proxy import PRINTED
from autograder.boundary.wire import pack, unpack
from exercises import checks

#: Set by the sandbox when the kernel starts: the socket to the checker.
CHANNEL: Channel | None = None

LIBRARY = {
    "gradient": checks.gradient,
    "set_weights": checks.set_weights,
    "times_run": checks.times_run,
    "weight_gradients": checks.weight_gradients,
    "with_embedding": checks.with_embedding,
    "with_fields": checks.with_fields,
    "with_sublayer": checks.with_sublayer,
}


def serve(namespace: dict) -> None:
    """Answer requests until the checker says that its cell is done; else raise Gone.

    What the answers print is kept, and goes back at the end.
    """
    desk, printed = Desk(namespace), Kept()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        while True:
            request, buffers = CHANNEL.receive()
            if request.get("op") == "done":
                CHANNEL.send({"printed": printed.getvalue()})
                return
            answer, raw = desk.answer(request, buffers)
            try:
                CHANNEL.send(answer, raw)
            except WireError as error:
                CHANNEL.send({"error": "ValueError", "message": str(error)})


class Kept(io.StringIO):
    """A text that stops to grow when it is long enough."""

    def write(self, text: str) -> int:
        """Keep a text if there is room for it."""
        if self.tell() < PRINTED:
            super().write(text[:PRINTED])
        return len(text)


class Desk:
    """Holds the learner's namespace and the objects that the checker has handles to."""

    held: dict[int, object] = {}  # noqa: RUF012  for the life of the kernel

    def __init__(self, namespace: dict):
        self.namespace = namespace

    def answer(self, request: dict, buffers: list) -> tuple[dict, list]:
        """Do what a request asks, and give its result or its error as a message."""
        raw: list = []
        try:
            return getattr(self, f"do_{request['op']}")(request, buffers, raw), raw
        except BaseException as error:
            return _error(error), []

    def do_look(self, request: dict, buffers: list, raw: list) -> dict:
        """Say what a name of the learner's stands for."""
        name = request["name"]
        if name not in self.namespace:
            return {"missing": True}
        return {"value": pack(self.namespace[name], raw, self.hold)}

    def do_get(self, request: dict, buffers: list, raw: list) -> dict:
        """Give an attribute of an object."""
        found = getattr(self.held[request["target"]], request["name"])
        return {"value": pack(found, raw, self.hold)}

    def do_call(self, request: dict, buffers: list, raw: list) -> dict:
        """Call an object; tell also which arguments it changed in place."""
        args, kwargs = self._arguments(request, buffers)
        name = request.get("library")
        target = self.held[request["target"]]
        if name:
            result = LIBRARY[name](target, *args, **kwargs)
        else:
            result = target(*args, **kwargs)
        reply = {"value": pack(result, raw, self.hold)}
        after: list = []
        node = pack([list(args), kwargs], after, self.hold)
        if after != buffers or node != request["arguments"]:
            reply["after"] = pack([list(args), kwargs], raw, self.hold)
        return reply

    def _arguments(self, request: dict, buffers: list) -> tuple[list, dict]:
        return unpack(request["arguments"], list(buffers), lambda i, *_: self.held[i])

    def hold(self, value) -> list:
        """Keep an object for the checker, and give the handle that stands for it."""
        own = type(value).__module__ == "__main__"
        if not (callable(value) or own or isinstance(value, nn.Module)):
            return ["foreign", type(value).__name__[:80]]
        number = id(value)
        self.held[number] = value
        name = getattr(value, "__name__", type(value).__name__)
        return ["handle", number, str(name)[:80]]


def _error(error: BaseException) -> dict:
    """Say what was raised, and on which line of the learner's own."""
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error = error.with_traceback(trace)
    message = {
        "error": type(error).__name__[:80],
        "message": str(error)[:2000],
        "place": checks._where(error)[:400],
    }
    if isinstance(error, checks.Mismatch):
        message["outcome"] = error.outcome
    if not hasattr(builtins, message["error"]):
        message["message"] = message["message"] or repr(error)[:2000]
    return message


def answer_always(kernel) -> None:
    """Let a kernel answer each request, whatever the learner's exceptions do."""
    execute, show = kernel.do_execute, kernel.shell._showtraceback

    async def _execute(*args, **kwargs):
        try:
            return json_clean(await execute(*args, **kwargs))
        except (Exception, SystemExit) as error:
            name = type(error).__name__
            told = {"ename": name, "evalue": "", "traceback": [name]}
            return {"status": "error", "execution_count": 0, **told}

    def _show(kind, error, lines):
        if not isinstance(lines, list):
            lines = traceback.format_exception_only(kind, error)
        show(kind, error, lines)

    kernel.do_execute, kernel.shell._showtraceback = _execute, _show


def answer_between_cells() -> None:
    """Serve the namespace of this kernel in its main thread, whenever it is asked."""
    loop, namespace = IOLoop.current(), sys.modules["__main__"].__dict__

    def attend(*_) -> None:
        try:
            serve(namespace)
        except (Gone, WireError):
            loop.remove_handler(CHANNEL.sock)
        if "matplotlib.pyplot" in sys.modules:  # no cell may show what a test drew
            sys.modules["matplotlib.pyplot"].close("all")

    loop.add_handler(CHANNEL.sock, attend, IOLoop.READ)
