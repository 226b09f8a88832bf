"""Spread work over worker processes, and outlive those that end."""

import contextlib
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process

from autograder.sandbox.server import begin_fork_server

TRIES = 2  # how often a submission is tried again when its worker ends
AHEAD = 2  # submissions under way for each worker: one in work, one waiting
PATIENCE = 5.0  # seconds until the workers are looked at, if nothing comes


class Processes:
    """Worker processes on this machine; when one ends, its pool ends with it."""

    ended = BrokenProcessPool

    def __init__(self, count: int):
        self.count = count

    @contextlib.contextmanager
    def pool(self):
        """Give a function that sends a task to a worker; they start when needed."""
        ready = begin_fork_server()  # one for all workers, which start meanwhile
        spawn = get_context("spawn")
        with ProcessPoolExecutor(self.count, spawn, end_with_parent) as pool:
            for _ in range(self.count):
                pool.submit(warm_up)
            ready()
            yield pool.submit

    def size(self) -> int:
        """Say how many workers there are."""
        return self.count


def warm_up() -> None:
    """Import what a worker needs, before it gets something to do."""
    import autograder.grade  # noqa: F401


def end_with_parent() -> None:
    """Let this process end when the one that started it does, however that ends."""

    def watch():
        parent_process().join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def spread(task: Callable, items: Iterable, crew) -> Iterator[tuple]:
    """Run a task on each item; give each item with its result, as they are ready.

    Few items are under way at a time, so that nothing piles up, however many there
    are. When a worker ends, what was under way is tried again, one by one: only what
    ends its worker TRIES times more is given up, with the result None.
    """
    waiting, suspects = deque(items), []
    while waiting:
        suspects += yield from _work(task, waiting, crew)
    ended = Counter(suspects)
    while suspects:
        waiting = deque(suspects)
        lost = yield from _work(task, waiting, crew, alone=True)
        ended.update(lost)
        for item in [item for item in lost if ended[item] > TRIES]:
            yield item, None
        suspects = [*waiting, *(item for item in lost if ended[item] <= TRIES)]


def _work(task, waiting: deque, crew, alone: bool = False):
    """Take items until none is left or a worker ends; give back what was lost then."""
    running, lost = {}, []
    with crew.pool() as submit:
        while running or (waiting and not lost):
            room = 1 if alone else AHEAD * crew.size()
            while waiting and not lost and len(running) < room:
                try:
                    running[submit(task, waiting[0])] = waiting[0]
                    waiting.popleft()
                except crew.ended:  # it ended while nobody looked
                    lost.append(waiting.popleft())
            done, _ = wait(running, PATIENCE, return_when=FIRST_COMPLETED)
            for job in done:
                item = running.pop(job)
                try:
                    result = job.result()
                except crew.ended:
                    lost.append(item)
                else:
                    yield item, result
    return lost
