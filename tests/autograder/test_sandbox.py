"""The fork server: what it starts ends with its grader, and one restart serves all."""

import itertools
import socket
import subprocess
import sys
import time

import pytest

from autograder.boundary.channel import Channel
from autograder.sandbox import jail
from autograder.sandbox.jail import Budget, Limits
from autograder.sandbox.server import fork_server

ASK = """
import os, sys
from autograder.sandbox.server import SOCKET, fork_server
os.environ[SOCKET] = sys.argv[1]
fork_server()
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def checker():
    """Return a checker and the socket of its grader."""
    ours, given = socket.socketpair()
    beside, away = socket.socketpair()
    started = fork_server().start({"kind": "checker", "seconds": 60}, [given, away])
    given.close()
    away.close()
    yield started, ours
    started.close()
    ours.close()
    beside.close()


def ends(sock, seconds=10):
    """Tell whether the process at the other end goes away."""
    sock.settimeout(seconds)
    try:
        return sock.recv(1) == b""
    except TimeoutError:
        return False


@pytest.mark.parametrize(
    "test", ["while True: pass", "while True:\n    try: 1 / 0\n    except: pass"]
)
def test_a_test_that_never_ends_goes_with_its_grader(checker, test):
    started, ours = checker
    Channel(ours).send({"source": test, "serves": False})
    assert not ends(ours, 1.0)
    started.close()
    assert ends(ours)


def servers(path):
    """List the fork servers of a socket."""
    listing = subprocess.run(["ps", "-ww", "-eo", "pid,args"], capture_output=True)
    lines = listing.stdout.decode(errors="replace").splitlines()
    return [int(line.split()[0]) for line in lines if line.endswith(f"zygote {path}")]


def test_a_killed_server_is_started_again_once_for_all(tmp_path):
    path = tmp_path / "fork-server"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as killed:
        killed.bind(str(path))  # what a killed server leaves
    command = [sys.executable, "-c", ASK, path]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    askers = [subprocess.Popen(command, **pipes) for _ in range(2)]
    try:
        for asker in askers:
            assert asker.stdout.readline() == b"ready\n"
        assert len(servers(path)) == 1
    finally:
        for asker in askers:
            asker.communicate()
    end = time.monotonic() + 10
    while servers(path) and time.monotonic() < end:
        time.sleep(0.1)
    assert servers(path) == []


def test_each_cell_has_its_time_and_the_notebook_has_its_own():
    budget = Budget(Limits(wall_seconds=50))
    budget.allow(5, 20)
    begun = time.monotonic()
    assert 19 < budget.wall_end - begun < 21
    budget.last_wall = begun + 1  # much of it is used up
    budget.allow(5, 20)
    assert budget.wall_end == begun + 1


def test_sockets_count():
    before = jail._sockets()
    pairs = [socket.socketpair() for _ in range(200)]
    assert jail._sockets() >= before + 200  # others may have closed some meanwhile
    for sock in itertools.chain(*pairs):
        sock.close()
