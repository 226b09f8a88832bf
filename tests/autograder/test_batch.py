"""The batch: killed and started again, it ends as if nothing had happened."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import Future

import pytest

from autograder.boundary import execute
from autograder.classroom import Classroom
from autograder.demo import make_class
from autograder.errors import CourseError
from autograder.exercise import find_exercise
from autograder.grade import grade, only_one
from autograder.results import FAILED, ResultStore
from autograder.sandbox.server import NOT_STARTED, SOCKET
from autograder.workers import Processes

NAME = "01-self-attention"
STUDENTS = 6


@pytest.fixture(scope="module")
def ungraded(tmp_path_factory):
    """Release the exercise and hand in the work of six learners."""
    room = Classroom.create(tmp_path_factory.mktemp("ungraded") / "class")
    room.release(find_exercise(NAME))
    for learner in make_class(room, find_exercise(NAME))[STUDENTS:]:
        shutil.rmtree(room.root / "submitted" / learner.id)
    return room


def copy_of(room, folder):
    """Copy a class, for a test to change."""
    return Classroom.open(shutil.copytree(room.root, folder / "class"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory, ungraded):
    """A class of six that was graded without interruption: its folder and its CSV."""
    room = copy_of(ungraded, tmp_path_factory.mktemp("whole"))
    grade(room, NAME, workers=2)
    return room, (room.root / "grades.csv").read_text(encoding="utf-8")


def start(room):
    """Start `course grade` in a process group, and with a fork server, of its own."""
    surroundings = {k: v for k, v in os.environ.items() if k != SOCKET}
    return subprocess.Popen(
        [sys.executable, "-m", "autograder.cli", "grade", "--class", room.root],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=surroundings,
        start_new_session=True,
    )


def start_until_a_result(room):
    """Start `course grade`, and wait until the first submission is graded."""
    process = start(room)
    store = ResultStore(room.root, NAME)
    end = time.monotonic() + 120
    while not store.all() and time.monotonic() < end:
        time.sleep(0.05)
    return process


def children(pid):
    """List the processes below a process, with their command lines."""
    found, todo = {}, [pid]
    listing = subprocess.run(
        ["ps", "-ww", "-eo", "pid,ppid,args"], capture_output=True, text=True
    )
    rows = [line.split(None, 2) for line in listing.stdout.splitlines()[1:]]
    while todo:
        parent = todo.pop()
        for child, above, command in rows:
            if int(above) == parent:
                found[int(child)] = command
                todo.append(int(child))
    return found


@pytest.mark.case(
    "S11-killed",
    "kill -9 of grader, worker or fork server",
    "run again: the same marks",
)
@pytest.mark.parametrize("victim", ["grader", "worker", "fork server"])
def test_killed_and_run_again_it_ends_the_same(tmp_path, ungraded, whole, victim):
    _, expected = whole
    room = copy_of(ungraded, tmp_path)
    process = start_until_a_result(room)
    if victim == "grader":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        mark = "zygote" if victim == "fork server" else "multiprocessing.spawn"
        running = children(process.pid)
        os.kill(
            next(pid for pid, line in running.items() if mark in line), signal.SIGKILL
        )
    process.wait(240)
    grade(room, NAME, workers=2)
    assert (room.root / "grades.csv").read_text(encoding="utf-8") == expected
    done = []
    grade(room, NAME, on_done=done.append)
    assert done == []


@pytest.mark.case(
    "S11-outside",
    "kill -9 of every kernel and checker, then of the fork server, in one run",
    "each is run once more: the same marks",
)
def test_what_is_ended_from_outside_is_run_once_more(tmp_path, ungraded, whole):
    _, expected = whole
    room = copy_of(ungraded, tmp_path)
    process = start_until_a_result(room)
    running = children(process.pid)
    server = next(pid for pid, line in running.items() if "zygote" in line)
    started = children(server)
    assert started
    for victim in (*started, server):
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
    process.wait(240)
    assert (room.root / "grades.csv").read_text(encoding="utf-8") == expected


def test_what_could_not_be_started_is_tried_in_the_next_run(ungraded, tmp_path):
    room = copy_of(ungraded, tmp_path)
    student = room.students(NAME)[0]
    (bad,) = grade(room, NAME, students=[student], crew=Unable())
    assert (bad.status, bad.digest) == (FAILED, "")
    (good,) = grade(room, NAME, students=[student], workers=1)
    assert good.status != FAILED


class Unable(Processes):
    """One worker, on a machine that can start nothing."""

    def __init__(self):
        super().__init__(1)

    @contextlib.contextmanager
    def pool(self):
        """Do each task here, where no fork server can be started."""

        def submit(task, item):
            job = Future()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(execute, "fork_server", refuse)
                patch.setattr(execute.Pair, "_spare", None)  # of an earlier test
                job.set_result(task(item))
            return job

        yield submit


def refuse():
    """Fail as a fork server does that ends before it is ready."""
    raise CourseError(f"{NOT_STARTED} the fork server")


@pytest.mark.case("S11-two", "a second grader in one class", "told: already grading")
def test_one_grader_at_a_time(whole):
    room, _ = whole
    with only_one(room), pytest.raises(CourseError, match="is being graded already"):
        grade(room, NAME)


@pytest.mark.case(
    "S11-locked", "another program locks the gradebook", "waits; same marks"
)
def test_a_locked_gradebook_is_waited_for(whole):
    room, expected = whole
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sqlite3, sys, time\n"
            "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "c.execute('begin immediate'); print('held', flush=True); time.sleep(12)",
            room.root / "gradebook.db",
        ],
        stdout=subprocess.PIPE,
    )
    assert holder.stdout.readline() == b"held\n"
    results = grade(room, NAME, workers=2, again=True)
    holder.wait()
    assert {result.status for result in results} <= {"graded", "graded with notes"}
    assert (room.root / "grades.csv").read_text(encoding="utf-8") == expected
