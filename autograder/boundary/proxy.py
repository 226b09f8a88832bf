"""In the checker: stand-ins for what the learner defined."""

import builtins

import numpy
import torch
from torch import Tensor

from autograder.boundary.channel import Channel, Gone, WireError
from autograder.boundary.wire import pack, unpack
from autograder.texts import writable
from exercises import checks

PRINTED = 200_000  # characters of what one test, or its answers, print that are kept


class AnswerEnded(Exception):
    """The learner's process has ended: it crashed, or went over a limit."""


class Learner:
    """The other side of the boundary, as the checker sees it."""

    def __init__(self, channel: Channel, seconds: float):
        self.channel = channel
        self.seconds = seconds
        self.ended = False

    def look(self, name: str):
        """Give what a name of the learner's stands for; raise NameError if nothing."""
        reply = self.ask({"op": "look", "name": name})
        if "missing" in reply[0]:
            raise NameError(f"name {name!r} is not defined")
        return self.value(reply)

    def ask(self, request: dict, buffers: list | tuple = ()) -> tuple[dict, list]:
        """Send a request and give the reply; an error there is raised here."""
        if self.ended:
            raise AnswerEnded("the learner's process has ended")
        try:
            self.channel.send(request, buffers)
            reply, raw = self.channel.receive(self.seconds)
        except (Gone, WireError) as error:
            self.ended = True
            self.channel.close()
            raise AnswerEnded("the learner's process has ended") from error
        if not isinstance(reply, dict):
            raise RuntimeError("the answer's process sent something that is no reply")
        if "error" in reply:
            raise remote_error(reply)
        return reply, raw

    def value(self, reply: tuple[dict, list]):
        """Give the value that a reply holds."""
        try:
            return unpack(reply[0].get("value"), reply[1], self.handle)
        except WireError as error:
            raise RuntimeError(f"the answer gave {error}") from error

    def handle(self, number, name=""):
        """Stand in for an object of the learner's."""
        if type(number) is not int:
            raise WireError("not a handle")
        return Proxy(self, number, str(name)[:80])

    def done(self) -> str:
        """Say that the cell has no more requests; give what the answers printed."""
        if self.ended:
            return ""
        reply, _ = self.ask({"op": "done"})
        return writable(reply.get("printed", ""))[:PRINTED]


class Proxy:
    """An object of the learner's: it can be called, and has attributes."""

    def __init__(self, learner: Learner, number: int, name: str):
        self.__dict__ |= {"_learner": learner, "_number": number, "_name": name}

    def __call__(self, *args, **kwargs):
        """Call the object with plain values."""
        return self._call(args, kwargs)

    def __beside__(self, function: str, args: tuple, kwargs: dict):
        """Run a function of the check library beside the object."""
        return self._call(args, kwargs, library=function)

    def _call(self, args: tuple, kwargs: dict, **more):
        buffers: list = []
        arguments = pack([list(args), kwargs], buffers, self._known)
        request = {"op": "call", "target": self._number, "arguments": arguments}
        reply = self._learner.ask(request | more, buffers)
        if "after" in reply[0]:
            after = unpack(reply[0]["after"], reply[1], self._learner.handle)
            _copy_back([list(args), kwargs], after)
        return self._learner.value(reply)

    def _known(self, value) -> list:
        if isinstance(value, Proxy):
            return ["handle", value._number, value._name]
        raise TypeError(
            f"a test can hand over plain values only, not a {type(value).__name__}"
        )

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        request = {"op": "get", "target": self._number, "name": name}
        return self._learner.value(self._learner.ask(request))

    def __len__(self) -> int:
        return len(list(self.__iter__()))

    def __iter__(self):
        return iter(self._method("__iter__"))

    def __getitem__(self, key):
        return self._method("__getitem__", key)

    def _method(self, name: str, *args):
        request = {"op": "get", "target": self._number, "name": name}
        return self._learner.value(self._learner.ask(request))(*args)

    def __repr__(self) -> str:
        return f"<the learner's {self._name}>"


def _copy_back(mine, theirs):
    """Write what the learner changed in place into the checker's own argument.

    Gives what now stands there: that argument, or the other one where it cannot change.
    """
    if isinstance(mine, Tensor) and isinstance(theirs, Tensor):
        with torch.no_grad():
            if mine.shape == theirs.shape and mine.dtype == theirs.dtype:
                mine.copy_(theirs)
            else:
                mine.data = theirs.detach()
        if mine.requires_grad != theirs.requires_grad:
            mine.detach_().requires_grad_(theirs.requires_grad)
    elif isinstance(mine, torch.Generator) and isinstance(theirs, torch.Generator):
        mine.set_state(theirs.get_state())
    elif isinstance(mine, list) and isinstance(theirs, list):
        pairs = zip(mine, theirs, strict=False)
        mine[:] = [_copy_back(*pair) for pair in pairs] + theirs[len(mine) :]
    elif isinstance(mine, dict) and isinstance(theirs, dict):
        items = {k: _copy_back(mine.get(k), v) for k, v in theirs.items()}
        mine.clear()
        mine.update(items)
    elif isinstance(mine, set) and isinstance(theirs, set):
        mine.clear()
        mine.update(theirs)
    elif isinstance(mine, bytearray) and isinstance(theirs, bytes):
        mine[:] = theirs
    elif isinstance(mine, numpy.ndarray) and isinstance(theirs, numpy.ndarray):
        mine[...] = theirs
    elif isinstance(mine, tuple) and isinstance(theirs, tuple):
        kept = tuple(_copy_back(*pair) for pair in zip(mine, theirs, strict=False))
        return kept + theirs[len(mine) :]
    elif not (isinstance(mine, Proxy) and isinstance(theirs, Proxy)):
        return theirs
    return mine


def remote_error(reply: dict) -> Exception:
    """Make an exception here that says what was raised there."""
    name, message = (
        writable(reply["error"])[:80],
        writable(reply.get("message", ""))[:2000],
    )
    outcome = reply.get("outcome")
    if name == "Mismatch" and isinstance(outcome, dict):
        return checks.Mismatch([message], {"kind": "error"} | outcome)
    kind = getattr(builtins, name, None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        kind = type(name if name.isidentifier() else "Error", (Exception,), {})
    try:
        error = kind(message)
    except TypeError:  # some need more arguments, such as UnicodeDecodeError
        error = type(name, (Exception,), {})(message)
    error.place = writable(reply.get("place", ""))[:400]
    return error
