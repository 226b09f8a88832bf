"""The fork server: a process that has imported everything, and forks on request.

It holds no secret, and has one thread. Each request names what to start and brings
the sockets for it; the connection then belongs to what was started.
"""

import contextlib
import gc
import importlib
import json
import logging
import os
import random
import resource
import select
import signal
import socket
import sys
import time
from pathlib import Path

SEED = 20170612  # the day "Attention Is All You Need" appeared; any fixed number does
CHECKER_BYTES = 8_000_000_000  # of address space
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
IMPORTED_LATE = (  # by a kernel when it starts, and by its first traceback
    "tornado.platform.asyncio",
    "tornado.queues",
    "ipykernel.debugger",
    "IPython.core.debugger",
    "IPython.core.oinspect",
    "IPython.core.completerlib",
    "IPython.core.logger",
    "IPython.extensions.storemagic",
    "sqlite3",
    "stack_data.core",
    "pygments.formatters.terminal256",
    "faulthandler",
)
KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "VIRTUAL_ENV")


def environment() -> dict[str, str]:
    """Give the environment to start the fork server in: short, and without secrets."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    kept |= dict.fromkeys(ONE_THREAD, "1")
    kept |= {
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }
    return kept


def warm_up() -> None:
    """Import what kernels and checkers need, and use it once.

    Raises RuntimeError when more than one thread is left: a fork would not be safe.
    """
    sys.modules.setdefault("debugpy", None)
    import numpy  # noqa: F401
    import torch

    torch.set_num_threads(1)
    for name in (
        "matplotlib.pyplot",
        "IPython.core.interactiveshell",
        "ipykernel.ipkernel",
        "ipykernel.kernelapp",
        *IMPORTED_LATE,
        "autograder.boundary.agent",
        "autograder.boundary.checker",
        "autograder.sandbox.jail",
    ):
        importlib.import_module(name)
    state = torch.get_rng_state()
    _exercise(torch)
    torch.set_rng_state(state)
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        raise RuntimeError(f"the fork server has {threads} threads, expected one")
    gc.collect()
    gc.freeze()


def _exercise(torch) -> None:
    """Use once what is slow the first time."""
    layer = torch.nn.Linear(2, 2)
    optimiser = torch.optim.Adam(layer.parameters())
    inputs = torch.ones(1, 2)
    torch.nn.functional.scaled_dot_product_attention(inputs, inputs, inputs)
    layer(inputs).sum().backward()
    optimiser.step()
    torch.testing.assert_close(inputs, inputs)
    with contextlib.suppress(ValueError):
        raise ValueError


def serve(path: str) -> None:
    """Fork on request until the process that started this one is gone."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path)
    os.chmod(path, 0o600)
    listener.listen(64)
    print("ready", flush=True)
    checkers: dict[int, socket.socket] = {}  # by process: the connection to its grader
    while True:
        watched = [listener, sys.stdin, *checkers.values()]
        ready, _, _ = select.select(watched, [], [], 1.0)
        with contextlib.suppress(ChildProcessError):
            while ended := os.waitpid(-1, os.WNOHANG)[0]:
                if ended in checkers:
                    checkers.pop(ended).close()
        for checker, control in checkers.items():
            if control in ready:  # its grader has hung up
                os.kill(checker, signal.SIGKILL)
        if sys.stdin in ready and not os.read(0, 1):
            return
        if listener in ready:
            checkers |= _start(listener.accept()[0], listener)


def _start(control: socket.socket, listener: socket.socket) -> dict:
    """Read one request and fork; the child never comes back.

    Gives the connection of a checker, by its process: it must end with its grader. A
    kernel has a supervisor for that.
    """
    said, descriptors, _, _ = socket.recv_fds(control, 65536, 4)
    if not said:  # somebody only asked whether there is a server
        control.close()
        return {}
    if child := os.fork():
        for descriptor in descriptors:
            os.close(descriptor)
        if json.loads(said)["kind"] == "checker":
            return {child: control}
        control.close()
        return {}
    try:
        listener.close()
        _child(json.loads(said), control, descriptors)
    except BaseException as error:  # the child must not go on as a fork server
        with contextlib.suppress(OSError):
            reason = f"{type(error).__name__}: {error}"
            control.send(json.dumps({"exit": 1, "why": reason}).encode())
    finally:
        os._exit(1)


def _child(request: dict, control: socket.socket, descriptors: list[int]) -> None:
    _fresh(request.get("seed", SEED))
    _close_all_but({control.fileno(), *descriptors})
    if request["kind"] == "checker":
        from autograder.boundary.checker import serve as check

        resource.setrlimit(resource.RLIMIT_AS, (CHECKER_BYTES, CHECKER_BYTES))
        control.send(json.dumps({"started": True}).encode())
        mine, beside = (socket.socket(fileno=d) for d in descriptors)
        check(mine, beside, request["seconds"])
        os._exit(0)
    from autograder.sandbox import jail

    limits = jail.Limits(**request.pop("limits", {}))
    facts = {
        key: request[key] for key in ("shown", "run_folder", "work", "hidden", "uid")
    }
    made = jail.Jail(limits=limits, **facts)
    jail.enter(made, control, lambda: _kernel(request, descriptors))


def _kernel(request: dict, descriptors: list[int]) -> None:
    """Be an IPython kernel, in the jail."""
    from autograder.boundary import agent
    from autograder.boundary.channel import Channel

    agent.CHANNEL = Channel(socket.socket(fileno=descriptors[0]))
    os.dup2(0, 2)  # what a crash prints goes nowhere
    import zmq
    from ipykernel.kernelapp import IPKernelApp
    from traitlets.config import Config

    class Kernel(IPKernelApp):
        """A kernel that is told everything here: no words to parse, no files to read.

        IPython would make a parser of all its options first.
        """

        def parse_command_line(self, argv=None) -> None:
            pass

        def load_config_file(self, suppress_errors=None) -> None:
            pass

        def init_iopub(self, context) -> None:
            context.setsockopt(zmq.SNDHWM, 0)  # what is not read yet is not dropped
            super().init_iopub(context)

    memory = Config(HistoryManager={"hist_file": ":memory:"})
    place = {"connection_file": request["connection_file"]}
    app = Kernel.instance(log_level=logging.CRITICAL, config=memory, **place)
    app.initialize()
    leave = {"exit": sys.exit, "quit": sys.exit}  # they end a cell, not the kernel
    app.shell.user_ns.update(leave)
    agent.answer_always(app.kernel)
    agent.answer_between_cells()
    app.start()


def _fresh(seed: int) -> None:
    """Give a fork seeds, signals and a clock of its own."""
    import numpy
    import torch

    random.seed(seed)
    numpy.random.seed(seed % 2**32)
    torch.manual_seed(seed)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    time.tzset()


def _close_all_but(kept: set[int]) -> None:
    """Close what the fork server had open; standard input becomes empty."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    for name in os.listdir("/proc/self/fd"):
        number = int(name)
        if number > 2 and number not in kept:
            with contextlib.suppress(OSError):
                os.close(number)


def main() -> None:
    """Warm up, then serve at the path that is given."""
    sys.path[:] = [place for place in sys.path if place not in ("", str(Path.cwd()))]
    warm_up()
    serve(sys.argv[1])


if __name__ == "__main__":
    main()
