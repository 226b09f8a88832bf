"""nbgrader's ``Execute``, replaced: answers run in a jail, tests in a checker.

It goes into ``Autograde.autograde_preprocessors``, so that the stock ``nbgrader
autograde`` uses it too. Scores follow from the checker's verdict alone.
"""

import math
import socket
from dataclasses import replace

from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat.v4 import new_code_cell, new_output
from nbgrader.preprocessors import Execute
from traitlets import Float, Int

from autograder.boundary.wire import Channel, Gone, WireError
from autograder.sandbox.jail import Limits
from autograder.sandbox.provisioner import JailManager
from autograder.sandbox.server import fork_server
from exercises.mistakes import MIME

SERVE = "__import__('autograder.boundary.agent', fromlist=['x']).run_for_checker()"
PATIENCE = 30.0  # seconds that a verdict may take once the answers are given
REASONS = {
    "cpu": ("TimeLimit", "this took more CPU time than is allowed, and was stopped"),
    "wall": ("TimeLimit", "this took longer than is allowed, and was stopped"),
    "memory": ("MemoryLimit", "this used more memory than is allowed, and was stopped"),
    "protocol": ("ProtocolBroken", "the Python process sent what no kernel sends"),
    "disk": ("DiskLimit", "this wrote where nothing may be written, and was stopped"),
    "output": ("OutputLimit", "this printed more than is allowed, and was stopped"),
    "exit": ("ProcessEnded", "the Python process ended here"),
}


class SplitExecute(Execute):
    """Run the learner's cells in a jail, and the tests in a checker beside it."""

    cell_cpu_seconds = Float(60.0, help="CPU time that one cell may use.").tag(
        config=True
    )
    cell_wall_seconds = Float(
        300.0, help="Time that one cell may take; generous, for a busy machine."
    ).tag(config=True)
    memory_bytes = Int(4_000_000_000, help="Memory of one notebook.").tag(config=True)
    output_bytes = Int(2_000_000, help="Output of one cell that is kept.").tag(
        config=True
    )
    flood_bytes = Int(50_000_000, help="Output at which a notebook is stopped.").tag(
        config=True
    )

    def preprocess(self, nb, resources, km=None):
        """Execute a notebook; a dead or stopped kernel leaves the earlier points."""
        limits = replace(Limits(), memory=self.memory_bytes)
        to_checker, to_student = socket.socketpair()
        control, given = socket.socketpair()
        request = {"kind": "checker", "seconds": self.cell_wall_seconds}
        checker = fork_server().start(request, [given, to_checker])
        given.close()
        to_checker.close()
        manager = JailManager()
        manager.limits, manager.beside = limits, to_student
        manager.work_folder = resources["metadata"].get("path", "")
        self.seen = 0
        self.skip_cells_with_tag = ""
        try:
            return self._run(nb, resources, manager, Channel(control))
        finally:
            control.close()
            checker.close()

    def _run(self, nb, resources, manager, checker: Channel):
        """Start the kernel and go through the cells; see :meth:`preprocess`."""
        NotebookClient.__init__(self, nb, manager)
        self.reset_execution_trackers()
        self._check_assign_resources(resources)
        self.timeout = None
        self.owns_km = True
        with self.setup_kernel():
            stopped = ""
            for index, cell in enumerate(nb.cells):
                if cell.cell_type != "code":
                    continue
                cell.outputs = []
                if stopped:
                    _stopped(cell, "exit", earlier=True)
                else:
                    stopped = self._cell(cell, index, checker)
        return nb, self.resources

    def _cell(self, cell, index: int, checker: Channel) -> str:
        """Execute one cell where it belongs; give the reason if the kernel ended."""
        about = cell.metadata.get("nbgrader", {})
        is_test = about.get("grade") and not about.get("solution")
        started = self.km.provisioner.started
        started.send(cpu=self.cell_cpu_seconds, wall=self.cell_wall_seconds)
        self.seen = 0
        reason, served = "", True
        try:
            if is_test or about.get("locked"):
                checker.send({"source": cell.source, "serves": bool(is_test)})
            if is_test:
                served = self._serve(cell, index)
            else:
                self.execute_cell(cell, index, store_history=True)
        except (DeadKernelError, CellTimeoutError, Flood) as error:
            started.wait(2.0)
            reason = "output" if isinstance(error, Flood) else started.why or "exit"
            reason = reason if reason in REASONS else "exit"
            started.close()
        except Gone:  # the checker's end is no fault of the learner's
            self.log.error("The checker has ended")
        except Exception:  # the learner's process may send anything at all
            self.log.exception("The kernel broke the protocol")
            reason = "protocol"
            started.close()
        if is_test or about.get("locked"):
            if not served:  # the checker waits for an answer that will not come
                started.close()
            self._verdict(cell, about, checker, bool(is_test))
        if reason:
            _stopped(cell, reason)
        return reason

    def _serve(self, cell, index: int) -> bool:
        """Let the kernel answer the checker; keep what the answers print.

        Tells whether it answered to the end of the test.
        """
        served = new_code_cell(SERVE)
        try:
            self.execute_cell(served, index, store_history=False)
        finally:
            self.nb.cells[index] = cell  # nbclient puts what it ran there
        cell.outputs += [o for o in served.outputs if o.output_type == "stream"]
        return all(o.output_type != "error" for o in served.outputs)

    def _verdict(self, cell, about: dict, checker: Channel, is_test: bool) -> None:
        """Write what the checker says of a cell into its outputs."""
        try:
            if is_test and not checker.waits(PATIENCE):
                self.km.provisioner.started.close()
            said, _ = checker.receive(PATIENCE if is_test else self.cell_wall_seconds)
        except (Gone, WireError):
            checker.close()  # what it says later would be taken for the next verdict
            text = "the test itself did not come to an end, here or earlier"
            told = {"ename": "CheckerEnded", "evalue": text, "traceback": [text]}
            said = {"error": told}
        if not is_test:
            return
        cell.execution_count = self.code_cells_executed
        for output in cell.outputs:
            output.name = "stdout"  # stock gives 0 for anything on stderr
        if said.get("printed"):
            cell.outputs.append(
                new_output("stream", name="stdout", text=said["printed"])
            )
        for text, data in said.get("displays", []):
            bundle = {"text/plain": text, **data}
            cell.outputs.append(new_output("display_data", data=bundle))
        if said.get("error"):
            cell.outputs.append(new_output("error", **said["error"]))
        elif said.get("value") is not None:
            _partial(cell, said["value"], float(about["points"]))

    def process_message(self, msg, cell, cell_index):
        """Keep output sound and within its bounds; a flood ends the notebook.

        Nothing may change what another cell shows: a verdict stands there.
        """
        if (
            msg["msg_type"].startswith("comm_")
            or msg["msg_type"] == "update_display_data"
        ):
            return None
        msg["content"].pop("transient", None)
        if not _is_sound(msg["msg_type"], msg["content"]):
            return None
        if msg["msg_type"] in ("stream", "display_data", "execute_result", "error"):
            before, self.seen = self.seen, self.seen + _size(msg["content"])
            if self.seen > self.flood_bytes:
                raise Flood
            if self.seen > self.output_bytes:
                if before <= self.output_bytes:
                    text = "\n[more was printed; it is not kept]\n"
                    cell.outputs.append(new_output("stream", name="stdout", text=text))
                return None
        return super().process_message(msg, cell, cell_index)


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
    """Count the characters of a message's texts."""
    if isinstance(content, str):
        return len(content)
    if isinstance(content, dict):
        return sum(map(_size, content.values()))
    if isinstance(content, (list, tuple)):
        return sum(map(_size, content))
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
