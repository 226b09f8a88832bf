"""Work and workers for tests; light, as every worker process imports it anew."""

import contextlib
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path


class Threads:
    """A crew in this process: nothing is started, and what it holds is counted."""

    ended = BrokenProcessPool

    @contextlib.contextmanager
    def pool(self):
        """Give a function that starts a task."""
        with ThreadPoolExecutor(1) as pool:
            yield pool.submit

    def size(self) -> int:
        """Say how many work."""
        return 1


def work(folder: Path, item: str) -> str:
    """Note that an item was begun; "poison" ends its worker, "weak" does so once."""
    with (folder / item).open("a", encoding="utf-8") as file:
        file.write(".")
    begun = (folder / item).stat().st_size
    if item == "poison" or (item == "weak" and begun == 1):
        os.kill(os.getpid(), signal.SIGKILL)
    return item.upper()


def nap(folder: Path, item: str) -> None:
    """Say which process this is, and take long."""
    (folder / item).write_text(str(os.getpid()), encoding="utf-8")
    time.sleep(60)
