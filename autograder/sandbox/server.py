"""Start the fork server, and ask it for kernels and checkers."""

import atexit
import contextlib
import fcntl
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import MachineFault
from autograder.sandbox.zygote import environment

SOCKET = "COURSE_FORK_SERVER"  # names a running server's socket to worker processes
NOT_STARTED = "This machine could not start"
STARTS = 3  # how often a fork server is started that ends before it is ready


@dataclass
class Started:
    """Something that the fork server started, and the connection that it lives by."""

    control: socket.socket
    kind: str
    status: int | None = None
    why: str = ""
    confirmed: bool = False
    used: float | None = None

    def confirm(self) -> None:
        """Wait until it has started. Raises MachineFault when it could not."""
        end = time.monotonic() + 30
        while not self.confirmed and self.status is None and time.monotonic() < end:
            self._listen(1.0)
        if not self.confirmed:
            why = self.why or "no answer in time"
            raise MachineFault(f"{NOT_STARTED} a {self.kind}: {why}")

    def poll(self) -> int | None:
        """Give the exit status, or None while it runs."""
        if self.status is None:
            self._listen(0)
        return self.status

    def wait(self, seconds: float) -> int | None:
        """Wait for the end; give the status, or None if it still runs."""
        end = time.monotonic() + seconds
        while self.status is None and time.monotonic() < end:
            self._listen(max(0.001, end - time.monotonic()))
        return self.status

    def killed(self) -> bool:
        """Tell whether it has ended by a signal that no limit of ours has sent."""
        return self.status == -signal.SIGKILL and self.why in ("exit", "gone")

    def send(self, **order) -> None:
        """Give an order: ``signal=n``, or an allowance ``cpu=s, wall=s``."""
        with contextlib.suppress(OSError):
            self.control.send(json.dumps(order).encode())

    def computing(self) -> float:
        """Give the CPU seconds that it has used; 0 when it does not say."""
        self.used, end = None, time.monotonic() + 2
        self.send(report=True)
        while self.used is None and self.status is None and time.monotonic() < end:
            self._listen(0.5)
        return self.used or 0.0

    def close(self) -> None:
        """Hang up: whatever it is, it ends, and all that it started with it."""
        self.control.close()
        if self.status is None:
            self.status = -9

    def _listen(self, seconds: float) -> None:
        try:
            self.control.settimeout(seconds or 0.0)
            said = self.control.recv(4096)
        except (BlockingIOError, TimeoutError):
            return
        except OSError:
            said = b""
        if self.status is not None:  # another thread has ended it meanwhile
            return
        message = json.loads(said) if said else {"exit": -9, "why": "gone"}
        self.confirmed = self.confirmed or "started" in message
        self.used = message.get("used", self.used)
        if "exit" in message:
            self.status, self.why = message["exit"], message["why"]


class ForkServer:
    """One running fork server; shared by all grader processes of a run."""

    def __init__(self, path: str):
        self.path = path

    def start(self, request: dict, sockets: list[socket.socket]) -> Started:
        """Have something forked off; what is given back confirms when it is there.

        Raises MachineFault when the server does not answer.
        """
        control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            control.connect(self.path)
            numbers = [sock.fileno() for sock in sockets]
            socket.send_fds(control, [json.dumps(request).encode()], numbers)
        except OSError as error:
            raise MachineFault(f"{NOT_STARTED} a {request['kind']}: {error}") from error
        return Started(control, request["kind"])


def fork_server() -> ForkServer:
    """Give the fork server of this run; start one if there is none.

    The first process of a run starts it and names it to the others through the
    environment. It ends with that process. If it is killed, whoever misses it first
    starts it again for all.
    """
    return begin_fork_server()()


def begin_fork_server() -> Callable[[], ForkServer]:
    """Begin to start the fork server; what is given back waits until it is ready.

    Until then the other processes of the run wait for it, instead of starting theirs.
    """
    path = Path(os.environ.get(SOCKET, ""))
    if _answers(path):
        return lambda: ForkServer(str(path))
    if not path.parent.is_dir() or not path.name:
        _sweep()
        folder = tempfile.mkdtemp(prefix="course-", dir="/tmp")  # short, for sockets
        atexit.register(remove, folder)
        path = Path(folder) / "fork-server"
        os.environ[SOCKET] = str(path)
    lock = path.with_name("lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    process = None
    if not _answers(path):
        path.unlink(missing_ok=True)
        process = _start(path)

    def ready() -> ForkServer:
        starting = process
        with lock:
            for _ in range(STARTS):
                if not starting or starting.stdout.readline() == b"ready\n":
                    return ForkServer(str(path))
                path.unlink(missing_ok=True)
                starting = _start(path)
        raise MachineFault(f"{NOT_STARTED} the fork server; COURSE_DEBUG=1 shows why.")

    return ready


def _start(path: Path) -> subprocess.Popen:
    """Start a fork server; it ends with this process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "autograder.sandbox.zygote", path],
        env=environment(),
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if not os.environ.get("COURSE_DEBUG") else None,
        start_new_session=True,
    )
    atexit.register(stop, process)
    return process


def _sweep() -> None:
    """Remove what killed runs have left behind, once it is a day old."""
    for folder in Path("/tmp").glob("course-????????"):
        with contextlib.suppress(OSError):
            about = folder.lstat()
            old = time.time() - about.st_mtime > 86_400
            own = stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid()
            if own and old and not _answers(folder / "fork-server"):
                remove(str(folder))


def stop(process: subprocess.Popen) -> None:
    """End a fork server."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def remove(folder: str) -> None:
    """Remove a folder, however deep a learner's code has made it."""
    subprocess.run(["rm", "-rf", "--", folder], stderr=subprocess.DEVNULL, check=False)


def _answers(path: Path) -> bool:
    probe = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True
