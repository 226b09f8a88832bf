"""Grade on a Dask cluster: the same sandbox, on every machine that has workers."""

import contextlib
import logging
import re
import secrets
import socket
import threading
import time
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

from autograder.classroom import Classroom
from autograder.database import REMEMBERED
from autograder.doctor import require_jail
from autograder.errors import CourseError
from autograder.texts import first_line

CONNECT = 10.0  # seconds to reach the scheduler
PATIENCE = 60.0  # seconds without a single worker
CERTIFICATE = "distributed.comm.tls.client.cert"
ALIKE = ("torch", "numpy", "nbgrader", "transformer-piece-by-piece")
BOOT = Path("/proc/sys/kernel/random/boot_id")  # Linux: new with every start
_one = threading.Lock()  # nbgrader changes the working directory of its process


@dataclass(frozen=True)
class Needs:
    """What a worker has to have in common with the machine that sends it work."""

    root: Path
    mark: str
    versions: tuple[str, ...]
    machine: str
    trust: bool


class Cluster:
    """The workers of a Dask scheduler; Dask's nannies replace those that end."""

    def __init__(self, scheduler: str, classroom: Classroom, trust: bool = False):
        self.scheduler, self.root = scheduler, classroom.root
        self.mark = self.root / "course" / f".cluster-{secrets.token_hex(8)}"
        self.needs = Needs(self.root, self.mark.name, versions(), machine(), trust)
        self.seen = time.monotonic()

    def __enter__(self) -> "Cluster":
        """Connect, and look whether every worker can grade this class.

        Raises CourseError that says what to mend.
        """
        self._connect()
        try:
            self.mark.parent.mkdir(exist_ok=True)
            self.mark.touch()
            self._examine()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error) -> None:
        """Hang up; the cluster goes on."""
        self.mark.unlink(missing_ok=True)
        self.client.close()

    @contextlib.contextmanager
    def pool(self):
        """Give a function that sends a task to a worker."""
        pool = self.client.get_executor(pure=False)
        try:
            yield partial(pool.submit, on_worker, self.needs)
        except CancelledError as error:
            raise self._lost() from error
        finally:
            pool.shutdown(wait=False)  # what still waits is taken back

    def size(self) -> int:
        """Count the workers, at least one.

        Raises CourseError when there has been none for long.
        """
        found = self._threads()
        if found:
            self.seen = time.monotonic()
        elif time.monotonic() - self.seen > PATIENCE:
            raise CourseError(
                f"{self.scheduler} has had no worker for {PATIENCE:.0f} seconds. Start "
                "some (`dask worker --nthreads 1 --nworkers N`) and run this again: "
                "what is graded stays graded."
            )
        return max(1, len(found))

    def _connect(self) -> None:
        try:
            from dask import config
            from distributed import Client, KilledWorker
        except ImportError:
            raise CourseError(
                "Dask is not installed here. Expected it here and on every machine "
                "that grades: pip install distributed"
            ) from None
        if not re.fullmatch(r"(tcp|tls)://[^/\s]+:\d+", self.scheduler):
            raise CourseError(
                f"{self.scheduler} is no address of a scheduler. Expected one like "
                "tcp://host:8786, which `dask scheduler` shows when it starts."
            )
        if self.scheduler.startswith("tls") and not config.get(CERTIFICATE, None):
            raise CourseError(
                f"{self.scheduler} asks for a certificate. Expected ca-file, "
                "client.cert and client.key under distributed.comm.tls in Dask's "
                "configuration."
            )
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        self.ended = KilledWorker
        try:
            self.client = Client(self.scheduler, timeout=CONNECT, set_as_default=False)
        except OSError as error:
            raise CourseError(
                f"No Dask scheduler answers at {self.scheduler}: {first_line(error)}. "
                "`dask scheduler` starts one, and says at which address."
            ) from error

    def _examine(self) -> None:
        """Wait for workers, and let each say whether it can grade."""
        while self.size() and not (found := self._threads()):
            time.sleep(0.2)
        if crowded := [place for place, threads in found.items() if threads > 1]:
            raise CourseError(
                f"The worker at {crowded[0]} has {found[crowded[0]]} threads. Expected "
                "one: start workers with --nthreads 1, and as many as there are cores "
                "with --nworkers."
            )
        asked = {
            place: self.client.submit(ready, self.needs, workers=[place], pure=False)
            for place in found
        }
        for place, answer in asked.items():
            try:
                answer.result(timeout=120)
            except (ImportError, AttributeError) as error:
                raise CourseError(
                    f"The worker at {place} cannot grade: {error}. Expected the same "
                    "version of this course, and its requirements, on every machine."
                ) from error
            except (TimeoutError, CancelledError, self.ended) as error:
                raise CourseError(
                    f"The worker at {place} does not answer. Look at its log; `course "
                    "doctor` says whether its machine can wall answers in."
                ) from error

    def _threads(self) -> dict[str, int]:
        try:
            return self.client.nthreads()
        except OSError as error:
            raise self._lost() from error

    def _lost(self) -> CourseError:
        return CourseError(
            f"The scheduler at {self.scheduler} is gone. Start it and run this again: "
            "what is graded stays graded."
        )


def versions() -> tuple[str, ...]:
    """Name the versions that marks may depend on."""
    return tuple(f"{name} {version(name)}" for name in ALIKE)


def machine() -> str:
    """Name this machine as nothing else is named; two may share a host name."""
    return BOOT.read_text(encoding="ascii") if BOOT.exists() else socket.gethostname()


def on_worker(needs: Needs, task, item):
    """Run a task in a worker process; one at a time, whatever its number of threads."""
    with _one:
        ready(needs)
        return task(item)


@cache
def ready(needs: Needs) -> None:
    """Look once whether this process can grade a class; raise CourseError if not."""
    here = socket.gethostname()
    if not (needs.root / "course" / needs.mark).exists():
        raise CourseError(
            f"{here} does not see {needs.root}. Expected the class folder at the same "
            "path on every machine: put it on a disk that they share."
        )
    if other := set(versions()) - set(needs.versions):
        raise CourseError(
            f"{here} has {', '.join(sorted(other))}. Expected the same as where "
            f"`course grade` runs: {', '.join(needs.versions)}."
        )
    shared = (needs.root / REMEMBERED).exists()
    if not shared and machine() != needs.machine:
        raise CourseError(
            f"The gradebook is a file, and {here} is another machine. Expected one "
            "that machines can share: --db postgresql://user@host/name"
        )
    require_jail(needs.trust)
