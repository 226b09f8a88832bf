"""Work is spread over workers with back-pressure, and outlives those that end."""

import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from crews import Threads, work

from autograder.workers import AHEAD, TRIES, Processes, spread


def begun(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in folder.iterdir()}


@pytest.mark.parametrize("workers", [1, 2])
def test_only_what_ends_its_worker_is_given_up(tmp_path, workers):
    items = ["a", "poison", "b", "weak", *"cdefgh"]
    found = dict(spread(partial(work, tmp_path), items, Processes(workers)))
    assert found == {item: item.upper() for item in items} | {"poison": None}
    counted = begun(tmp_path)
    assert counted["poison"] == 1 + TRIES
    assert set(counted) == set(items)
    assert max(counted[item] for item in "abcdefgh") <= 2  # beside poison, once


def test_each_item_comes_once(tmp_path):
    items = [f"{number}" for number in range(50)]
    found = Counter(
        item for item, _ in spread(partial(work, tmp_path), items, Processes(2))
    )
    assert found == Counter(items)


def test_few_are_under_way_while_many_wait():
    begun = []
    for given, _ in enumerate(spread(begun.append, range(1000), Threads())):
        assert len(begun) <= given + AHEAD
    assert begun == list(range(1000))


def test_an_error_of_the_task_ends_the_run_and_waits_for_little():
    done = []

    def fail(number):
        done.append(number)
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        list(spread(fail, range(1000), Threads()))
    assert len(done) <= AHEAD


def test_workers_end_with_the_one_that_started_them(tmp_path):
    code = (
        "import pathlib, sys, functools; from crews import nap\n"
        "from autograder.workers import Processes, spread\n"
        "task = functools.partial(nap, pathlib.Path(sys.argv[1]))\n"
        "list(spread(task, ['one', 'two'], Processes(2)))"
    )
    here = Path(__file__).parent
    run = subprocess.Popen([sys.executable, "-c", code, tmp_path], cwd=here)
    napping = [tmp_path / "one", tmp_path / "two"]
    assert soon(lambda: all(path.exists() and path.read_text() for path in napping))
    workers = [Path("/proc", path.read_text()) for path in napping]
    run.kill()
    run.wait()
    assert soon(lambda: all(map(ended, workers)))


def ended(process: Path) -> bool:
    """Tell whether a process is gone, or waits for nothing but to be buried."""
    try:
        return " Z " in (process / "stat").read_text(encoding="ascii")
    except OSError:
        return True


def soon(is_so, seconds: float = 60) -> bool:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.05)
    return is_so()
