"""A jupyter_client provisioner whose kernels are forked into a jail."""

import asyncio
import itertools
import os
import queue
import socket
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import zmq
from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.client import KernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner
from traitlets import DottedObjectName, Type

from autograder.sandbox.jail import FIRST_UID, Limits, shown_folders
from autograder.sandbox.server import fork_server, remove

PROVISIONER = "course-jail"
MESSAGE_BYTES = 60_000_000  # more than a notebook may print in all
MESSAGES = 8  # that wait on our side; the others wait in the jail
SPEC = KernelSpec(
    argv=["python", "-f", "{connection_file}"],
    display_name="Python 3 (in a jail)",
    language="python",
    metadata={"kernel_provisioner": {"provisioner_name": PROVISIONER, "config": {}}},
)
KERNELS = 1000  # of one grader process, before a number is given to another one
_uids = itertools.count()


class JailProvisioner(LocalProvisioner):
    """Starts a kernel by forking; the connection to it carries signals and its end."""

    started = None
    run_folder = ""

    @property
    def has_process(self) -> bool:
        """Tell whether there is a kernel."""
        return self.started is not None

    async def pre_launch(self, **kwargs):
        """Give the kernel a folder of its own for its sockets."""
        self.run_folder = tempfile.mkdtemp(prefix="k-", dir=_run_root())
        manager = self.parent
        manager.context.setsockopt(zmq.MAXMSGSIZE, MESSAGE_BYTES)
        manager.context.setsockopt(zmq.RCVHWM, MESSAGES)
        manager.transport, manager.ip = "ipc", f"{self.run_folder}/s"
        manager.connection_file = f"{self.run_folder}/kernel.json"
        return await super().pre_launch(**kwargs)

    async def launch_kernel(self, cmd, **kwargs):
        """Ask the fork server for a kernel, with a socket to the checker."""
        manager = self.parent
        request = {
            "kind": "kernel",
            "shown": shown_folders(),
            "hidden": hidden_folders(),
            "run_folder": self.run_folder,
            "work": manager.work_folder,
            "uid": _next_uid(),
            "limits": asdict(manager.limits),
            "connection_file": manager.connection_file,
        }
        if manager.seed is not None:
            request["seed"] = manager.seed
        self.started = fork_server().start(request, [manager.beside])
        manager.beside.close()
        return self.connection_info

    async def poll(self):
        """Give the exit status, or None while the kernel runs."""
        return self.started.poll() if self.started else 0

    async def wait(self):
        """Wait for the end of the kernel."""
        while self.started and self.started.poll() is None:
            await asyncio.sleep(0.01)
        self.started = None

    async def send_signal(self, signum: int) -> None:
        """Send a signal to the kernel."""
        if self.started:
            self.started.send(signal=signum)

    async def kill(self, restart: bool = False) -> None:
        """End the jail and everything in it."""
        if self.started:
            self.started.close()

    async def terminate(self, restart: bool = False) -> None:
        """End the jail and everything in it."""
        await self.kill(restart)

    async def cleanup(self, restart: bool = False) -> None:
        """Remove the folder of the sockets."""
        if self.started:
            self.started.close()
        remove(self.run_folder)


class QuickClient(AsyncKernelClient):
    """A client that is ready when the kernel is, without the stock pause of 0.2 s."""

    def start_channels(self, **channels) -> None:
        """Open the channels that are read, no others: what comes there would stay."""
        super().start_channels(**{"stdin": False, "control": False} | channels)

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Ask until an answer shows that both of the kernel's channels are heard."""
        end = time.monotonic() + (timeout or 60)
        while time.monotonic() < end:
            asked = self.kernel_info()
            try:
                while not _ends(await self.get_iopub_msg(timeout=0.2), asked):
                    pass
                self._handle_kernel_info_reply(await self.get_shell_msg(timeout=10))
                return
            except queue.Empty:
                continue
        raise RuntimeError("the kernel did not get ready in time")


def _ends(message: dict, asked: str) -> bool:
    """Tell whether a message says that a request has been worked off."""
    idle = message["content"].get("execution_state") == "idle"
    return idle and message["parent_header"].get("msg_id") == asked


class JailManager(AsyncKernelManager):
    """A kernel manager whose kernels live in a jail."""

    client_class = DottedObjectName(f"{__name__}.QuickClient")
    client_factory = Type(klass=KernelClient, default_value=QuickClient)

    limits = Limits()
    work_folder = ""
    seed = None
    beside: socket.socket | None = None

    @property
    def kernel_spec(self) -> KernelSpec:
        """The one kernel there is; what a notebook asks for plays no part."""
        return SPEC


def _next_uid() -> int:
    """Give a number for a kernel's user that no kernel beside it has."""
    own = os.getpid() % 1_000_000 * KERNELS
    return FIRST_UID + own + next(_uids) % KERNELS


def hidden_folders() -> list[str]:
    """Name folders of the course that a jail must not show: they hold hidden tests."""
    import autograder
    import exercises
    import solutions

    found = (autograder, exercises, solutions)
    return [str(Path(module.__file__).resolve().parent) for module in found]


def _run_root() -> str:
    return str(Path(os.environ.get("COURSE_FORK_SERVER") or fork_server().path).parent)
