"""nbgrader's ``Execute``, replaced: answers run in a jail, tests in a checker.

It goes into ``Autograde.autograde_preprocessors``, so that the stock ``nbgrader
autograde`` uses it too. Scores follow from the checker's verdict alone.
"""

import contextlib
import hashlib
import math
import os
import socket
import threading
import time
from dataclasses import replace
from pathlib import Path

import zmq
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode, from_dict
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from traitlets import Float, Int

from autograder.boundary.channel import Channel, Gone, WireError
from autograder.errors import CourseError
from autograder.exercise import BEGIN_HIDDEN
from autograder.sandbox.jail import Limits, files_beside
from autograder.sandbox.provisioner import JailManager
from autograder.sandbox.server import fork_server
from autograder.texts import writable_in
from exercises.mistakes import MIME

PATIENCE = 30.0  # seconds that a verdict may take beyond the answers it asks for
BETWEEN = 0.2  # seconds between two looks at the kernel while a test runs
REPEATS = 2  # how often a notebook is run again whose kernel or checker was killed
GROWTH = 500_000_000  # bytes that the grader may grow by while a notebook is run
CUT = "\n[more was printed; it is not kept]\n"
REASONS = {
    "cpu": ("TimeLimit", "this took more CPU time than is allowed, and was stopped"),
    "wall": ("TimeLimit", "this took longer than is allowed, and was stopped"),
    "memory": ("MemoryLimit", "this used more memory than is allowed, and was stopped"),
    "protocol": ("ProtocolBroken", "the Python process sent what no kernel sends"),
    "sockets": ("SocketLimit", "this opened too many sockets, and was stopped"),
    "output": ("OutputLimit", "this printed more than is allowed, and was stopped"),
    "exit": ("ProcessEnded", "the Python process ended here"),
    "killed": (
        "ProcessKilled",
        "the Python process ended here: it was killed, each time",
    ),
}


class SplitExecute(Execute):
    """Run the learner's cells in a jail, and the tests in a checker beside it."""

    cell_cpu_seconds = Float(60.0, help="CPU time that one cell may use.").tag(
        config=True
    )
    cell_wall_seconds = Float(
        300.0, help="Time that one cell may take; generous, for a busy machine."
    ).tag(config=True)
    notebook_cpu_seconds = Float(600.0, help="CPU time of all its cells.").tag(
        config=True
    )
    notebook_wall_seconds = Float(1800.0, help="Time that all its cells take.").tag(
        config=True
    )
    memory_bytes = Int(4_000_000_000, help="Memory of one notebook.").tag(config=True)
    output_bytes = Int(5_000_000, help="Output of one cell that is kept.").tag(
        config=True
    )
    notebook_output_bytes = Int(
        20_000_000, help="Output of all its cells that is kept."
    ).tag(config=True)
    flood_bytes = Int(50_000_000, help="Output of a cell at which it is stopped.").tag(
        config=True
    )

    def preprocess(self, nb, resources, km=None):
        """Execute a notebook; a dead or stopped kernel leaves the earlier points.

        What something outside has ended, such as a machine short of memory, is run
        again from the beginning, at most REPEATS times.
        """
        self.skip_cells_with_tag = ""
        self.repeats, pair = REPEATS, Pair.waiting(resources)
        while True:
            try:
                return self._run(nb, resources, pair)
            except (CourseError, RuntimeError) as error:  # nbclient's: no answer
                if not self.repeats:
                    raise
                self.log.warning("%s; it is run again", error)
                self.repeats, pair = self.repeats - 1, None

    def start_pair(self, resources) -> "Pair":
        """Start a jail for a notebook, with the files beside it, and a checker."""
        total = {"cpu_seconds": self.notebook_cpu_seconds}
        total |= {"wall_seconds": self.notebook_wall_seconds}
        limits = replace(Limits(), memory=self.memory_bytes, **total)
        folder = resources["metadata"].get("path", "")
        return Pair.start(limits, folder, self.cell_wall_seconds)

    def _run(self, nb, resources, pair: "Pair | None"):
        """Execute a notebook with a pair; see :meth:`preprocess`."""
        with contextlib.closing(pair or self.start_pair(resources)) as pair:
            pair.confirm()
            NotebookClient.__init__(self, nb, pair.manager)
            self.reset_execution_trackers()
            self._check_assign_resources(resources)
            self.seen = self.thrown = self.kept = self.kept_in_all = 0
            self.timeout = None
            self.owns_km = True
            with self.setup_kernel(), memory_watched(pair.manager.provisioner.started):
                pair.keep_spare()
                self._go_through(nb.cells, pair)
                nb.metadata["computing"] = self.km.provisioner.started.computing()
        return nb, self.resources

    def _go_through(self, cells, pair: "Pair") -> None:
        """Execute the cells; once the kernel has ended, say so in those that follow."""
        stopped = ""
        for index, cell in enumerate(cells):
            if cell.cell_type != "code":
                continue
            cell.outputs = []
            if stopped:
                _stopped(cell, "exit", earlier=True)
            else:
                stopped = self._cell(cell, index, pair)

    def _cell(self, cell, index: int, pair: "Pair") -> str:
        """Execute one cell where it belongs; give the reason if the kernel ended."""
        about = cell.metadata.get("nbgrader", {})
        is_test = about.get("grade") and not about.get("solution")
        started = self.km.provisioner.started
        started.send(cpu=self.cell_cpu_seconds, wall=self.cell_wall_seconds)
        reason = ""
        if is_test:
            self.code_cells_executed += 1
            said = self._ask(cell, pair)
            self._write_verdict(cell, said, float(about["points"]))
            if said.get("ended"):
                reason = self._why_ended()
        else:
            reason = self._execute(cell, index)
            if about.get("locked") and not about.get("solution"):
                self._ask(cell, pair)
        if reason:
            started.close()
            _stopped(cell, reason)
        return reason

    def _execute(self, cell, index: int) -> str:
        """Execute a cell in the jail; give the reason if the kernel ended."""
        self.seen = self.kept = 0
        try:
            self.execute_cell(cell, index, store_history=True)
        except Flood:
            return "output"
        except (DeadKernelError, CellTimeoutError):
            return self._why_ended()
        except Exception:  # the learner's process may send anything at all
            self.log.exception("The kernel broke the protocol")
            return "protocol"
        return ""

    def _why_ended(self) -> str:
        """Name the reason for which the kernel has ended.

        Raises CourseError when something outside has ended it, and it may run again.
        """
        started = self.km.provisioner.started
        started.wait(2.0)
        if started.killed():
            if self.repeats:
                raise CourseError("Something ended the kernel")
            return "killed"
        return started.why if started.why in REASONS else "exit"

    def _ask(self, cell, pair: "Pair") -> dict:
        """Have the checker run a cell, and give what it says.

        It asks the kernel for the answers itself, and learns when that has ended.
        Raises CourseError when something has ended the checker, and it may run again.
        """
        try:
            is_test = cell.metadata["nbgrader"]["grade"]
            pair.channel.send({"source": cell.source, "serves": is_test})
            end = time.monotonic() + self.cell_wall_seconds + PATIENCE
            while not pair.channel.waits(BETWEEN) and time.monotonic() < end:
                self._throw_away()
            return writable_in(pair.channel.receive(max(0, end - time.monotonic()))[0])
        except (Gone, WireError):
            if self.repeats and pair.checker.wait(2.0) is not None:
                raise CourseError("Something ended the checker") from None
            pair.channel.close()  # what it says later is no verdict on the next test
            text = "the test itself did not come to an end, here or earlier"
            told = {"ename": "CheckerEnded", "evalue": text, "traceback": [text]}
            return {"error": told}

    def _throw_away(self) -> None:
        """Drop what the kernel sends while a test runs: it is not waited for."""
        socket = zmq.Socket.shadow(self.kc.iopub_channel.socket)
        size = 0
        with contextlib.suppress(zmq.Again):
            while True:
                size += sum(map(len, socket.recv_multipart(zmq.NOBLOCK)))
        self.thrown += size
        if self.thrown > self.flood_bytes:
            self.km.provisioner.started.close()

    def _write_verdict(self, cell, said: dict, points: float) -> None:
        """Write what the checker says of a test into its outputs.

        All of it is on stdout: stock gives 0 for anything on stderr.
        """
        cell.execution_count = self.code_cells_executed
        printed = [said.get("printed")]
        if BEGIN_HIDDEN not in cell.source:  # an answer may print a hidden input
            printed.insert(0, said.get("answers_printed"))
        for text in printed:
            if text:
                cell.outputs.append(new_output("stream", name="stdout", text=text))
        for text, data in said.get("displays", []):
            bundle = {"text/plain": text, **data}
            cell.outputs.append(new_output("display_data", data=bundle))
        if said.get("error"):
            cell.outputs.append(new_output("error", **said["error"]))
        elif said.get("value") is not None:
            _partial(cell, said["value"], points)

    async def _async_poll_kernel_alive(self) -> None:
        """Watch the kernel as nbclient does; after a flood nobody waits for it."""
        with contextlib.suppress(AssertionError):  # the client has been put away
            await super()._async_poll_kernel_alive()

    def process_message(self, msg, cell, cell_index):
        """Keep output sound and within its bounds; a flood ends the notebook.

        Nothing may change what another cell shows: a verdict stands there.
        """
        if (
            msg["msg_type"].startswith("comm_")
            or msg["msg_type"] == "update_display_data"
        ):
            return None
        msg["content"] = content = writable_in(msg["content"])
        content.pop("transient", None)
        if type(content.get("execution_count", 0)) is not int:
            content["execution_count"] = None
        if not _is_sound(msg["msg_type"], msg["content"]):
            return None
        if msg["msg_type"] in ("stream", "display_data", "execute_result", "error"):
            size = _size(msg["content"])
            self.seen += size
            if self.seen > self.flood_bytes:
                raise Flood
            if not self._has_room(size):
                if not any(o.get("text") == CUT for o in cell.outputs):
                    cell.outputs.append(new_output("stream", name="stdout", text=CUT))
                return None
        elif msg["msg_type"] == "clear_output":
            self.kept_in_all, self.kept = self.kept_in_all - self.kept, 0
        return super().process_message(msg, cell, cell_index)

    def _has_room(self, size: int) -> bool:
        """Tell whether an output of a size is kept, and count it if so."""
        left = self.notebook_output_bytes - self.kept_in_all
        if size > min(self.output_bytes - self.kept, left):
            return False
        self.kept, self.kept_in_all = self.kept + size, self.kept_in_all + size
        return True


class Pair:
    """A kernel in its jail and a checker, with a socket between them.

    Both start at once; :meth:`confirm` waits until they are there. A spare pair starts
    while a notebook runs, for the next one with the same files beside it.
    """

    _waiting: "Pair | None" = None
    _spare: "Pair | None" = None

    def __init__(self, limits: Limits, folder: str, seconds: float):
        self.asked = (limits, folder, seconds)
        self.like = (limits, beside(folder), seconds)
        to_checker, to_student = socket.socketpair()
        control, given = socket.socketpair()
        self.channel = Channel(control)
        request = {"kind": "checker", "seconds": seconds}
        self.checker = fork_server().start(request, [given, to_checker])
        given.close()
        to_checker.close()
        self.manager = JailManager()
        self.manager.limits, self.manager.beside = limits, to_student
        self.manager.work_folder = folder
        run_sync(self.manager.start_kernel)()

    @classmethod
    def start(cls, limits: Limits, folder: str, seconds: float) -> "Pair":
        """Give a pair for the notebook of a folder: the spare one if that will do."""
        asked, spare, cls._spare = (limits, folder, seconds), cls._spare, None
        if spare and spare.like == (limits, beside(folder), seconds) and spare.lives():
            spare.asked = asked
            return spare
        if spare:
            spare.close()
        return cls(*asked)

    def keep_spare(self) -> None:
        """Start another pair like this one, for a notebook that may come next."""
        if Pair._spare is None:
            with contextlib.suppress(CourseError):  # the next one will be told
                Pair._spare = Pair(*self.asked)

    def lives(self) -> bool:
        """Tell whether neither has ended."""
        kernel = self.manager.provisioner.started
        return self.checker.poll() is None and kernel.poll() is None

    def confirm(self) -> None:
        """Wait until both have started. Raises CourseError when one cannot."""
        self.checker.confirm()
        self.manager.provisioner.started.confirm()

    def close(self) -> None:
        """End both; the kernel has ended already if its notebook was run."""
        self.channel.close()
        self.checker.close()
        if self.manager.has_kernel:
            run_sync(self.manager.shutdown_kernel)(now=True)

    @classmethod
    def wait(cls, pair: "Pair | None") -> None:
        """Keep a pair for the notebook that comes next, in place of an earlier one."""
        if cls._waiting:
            cls._waiting.close()
        cls._waiting = pair

    @classmethod
    def waiting(cls, resources) -> "Pair | None":
        """Give the pair that was started for this notebook, if there is one."""
        pair, cls._waiting = cls._waiting, None
        if pair and pair.asked[1] != resources["metadata"].get("path", ""):
            pair.close()
            return None
        return pair


def beside(folder: str) -> dict[str, str]:
    """Sum up the files that a jail gets from a folder, by their paths in it."""
    found = {}
    for path, _ in files_beside(folder):
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found[os.path.relpath(path, folder)] = digest
    return found


class StartAhead(NbGraderPreprocessor):
    """Start the jail of a notebook while nbgrader still prepares it.

    It is the first of ``Autograde.sanitize_preprocessors``; the files that the jail
    gets lie in place by then.
    """

    def preprocess(self, nb, resources):
        """Pass the notebook on unchanged."""
        about = resources["nbgrader"]
        course = self.parent.parent.coursedir
        folder = course.format_path(
            course.autograded_directory, about["student"], about["assignment"]
        )
        execute = SplitExecute(parent=self.parent)
        with contextlib.suppress(CourseError):  # it is started when it is needed
            Pair.wait(execute.start_pair({"metadata": {"path": folder}}))
        return nb, resources


def new_output(kind: str, **fields) -> NotebookNode:
    """Make an output as nbformat does, without checking each: all are checked later."""
    about = {} if kind in ("stream", "error") else {"metadata": {}}
    return from_dict({"output_type": kind} | about | fields)


@contextlib.contextmanager
def memory_watched(started):
    """End a kernel whose messages make this process grow too much.

    ZeroMQ takes in a message of many parts whole, before anybody can look at it.
    """
    done, limit = threading.Event(), _resident() + GROWTH

    def watch() -> None:
        while not done.wait(0.05):
            if _resident() > limit:
                started.why = "output"
                started.close()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _resident() -> int:
    """Give the bytes of memory that this process holds."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


class Flood(Exception):
    """A cell printed so much that its notebook was stopped."""


def _is_sound(kind: str, content: dict) -> bool:
    """Tell whether an output is one that a notebook may hold."""
    if kind == "stream":
        names = content.get("name") in ("stdout", "stderr")
        return names and isinstance(content.get("text"), str)
    if kind in ("display_data", "execute_result"):
        data, about = content.get("data"), content.get("metadata")
        if not isinstance(data, dict) or not isinstance(about, dict):
            return False
        return all(isinstance(v, str) or "json" in k for k, v in data.items())
    if kind == "error":
        lines = content.get("traceback")
        if not isinstance(lines, list):
            return False
        texts = [content.get("ename"), content.get("evalue"), *lines]
        return all(isinstance(text, str) for text in texts)
    return kind != "status" or "execution_state" in content


def _size(content) -> int:
    """Count the bytes of a message's texts, and a few for all else it holds."""
    if isinstance(content, str):
        return len(content) if content.isascii() else len(content.encode())
    if isinstance(content, dict):
        return 8 + sum(map(_size, content)) + sum(map(_size, content.values()))
    if isinstance(content, (list, tuple)):
        return 8 + sum(map(_size, content))
    return 8


def _stopped(cell, reason: str, earlier: bool = False) -> None:
    """Write into a cell that the kernel was stopped in it, or before it."""
    name, text = REASONS[reason]
    if earlier:
        name, text = "NotRun", "an earlier cell ended the Python process"
    cell.outputs = [o for o in cell.outputs if o.output_type != "error"]
    cell.outputs.append(new_output("error", ename=name, evalue=text, traceback=[text]))


def _partial(cell, value: dict, points: float) -> None:
    """Turn the value of a test's last line into partial credit, within its bounds."""
    number = float(value["number"]) if "number" in value else math.nan
    note = ""
    if "text" in value:
        note, number = f"the test gave {value['text']}, which is not a number", 0.0
    elif not math.isfinite(number):
        note, number = f"the test gave {number}, which is not finite", 0.0
    elif not 0 <= number <= points:
        within = min(max(number, 0.0), points)
        note, number = f"the test gave {number:g} of {points:g} points", within
    data = {"text/plain": repr(float(number))}
    if note:
        note += f"; counted as {number:g}"
        cell.outputs.append(new_output("stream", name="stdout", text=f"[{note}]\n"))
        data[MIME] = {"note": note}
    cell.outputs.append(new_output("execute_result", data=data, execution_count=1))
