"""Grading on a Dask cluster: the same as on one machine, and workers may die."""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest
from crews import work

from autograder import cluster as clusters
from autograder.classroom import Classroom
from autograder.cluster import Cluster, Needs, machine, ready, versions
from autograder.errors import CourseError
from autograder.grade import grade
from autograder.results import ResultStore
from autograder.workers import spread

distributed = pytest.importorskip("distributed")
NAME = "01-self-attention"


@pytest.fixture(scope="module")
def local():
    """Two workers of one thread each, each in a process of its own."""
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs=50,
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def room(class_of_five, tmp_path_factory):
    root = tmp_path_factory.mktemp("dask") / "class"
    shutil.copytree(class_of_five.root, root)
    return Classroom.open(root)


def kill_one_at_work(client) -> None:
    """End a worker that grades, as a machine that loses its power does."""
    busy = next(place for place, tasks in client.processing().items() if tasks)
    pid = client.run(os.getpid, workers=[busy])[busy]
    os.kill(pid, signal.SIGKILL)


def statuses(room):
    """Give the status lines, without the time that each took."""
    path = room.root / f"status-{NAME}.jsonl"
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [line | {"seconds": 0} for line in lines]


def test_a_worker_dies_and_all_is_as_in_the_serial_run(local, room, graded_serially):
    done = []
    with Cluster(local.scheduler_address, room) as crew:

        def on_done(result):
            done.append(result.student)
            if len(done) == 1:
                kill_one_at_work(crew.client)

        grade(room, NAME, on_done=on_done, crew=crew)
    assert sorted(done) == ["ada", "ben", "cy", "dan", "eve"]
    csv = [one.root / "grades.csv" for one in (room, graded_serially)]
    assert csv[0].read_bytes() == csv[1].read_bytes()
    assert statuses(room) == statuses(graded_serially)
    for ours in ResultStore(room.root, NAME).all():
        theirs = ResultStore(graded_serially.root, NAME).load(ours.student)
        assert ours.cells == theirs.cells
    assert not list((room.root / "course").glob(".cluster-*"))


def test_the_command_finds_nothing_left_to_do(local, room):
    before = (room.root / "grades.csv").read_bytes()
    command = [sys.executable, "-m", "autograder.cli", "grade", "--class", room.root]
    command += ["--scheduler", local.scheduler_address]
    told = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert told.returncode == 1, told.stderr  # eve's notebook had to be renamed
    assert "5 graded" in told.stdout
    assert (room.root / "grades.csv").read_bytes() == before


def test_only_what_ends_its_worker_is_given_up(local, room, tmp_path):
    local.scheduler.allowed_failures = (
        0  # Dask's own; else it tries four times as often
    )
    items = ["poison", *"abcd"]
    with Cluster(local.scheduler_address, room) as crew:
        found = dict(spread(partial(work, tmp_path), items, crew))
    assert found == {item: item.upper() for item in items} | {"poison": None}
    assert (tmp_path / "poison").stat().st_size == 3


def test_a_worker_with_two_threads_is_refused(room):
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=2,
            processes=False,
            protocol="tcp",
            dashboard_address=":0",
            silence_logs=50,
        ) as crowded,
        pytest.raises(CourseError, match="has 2 threads"),
        Cluster(crowded.scheduler_address, room),
    ):
        pass


def test_a_scheduler_that_is_not_there(room, monkeypatch):
    monkeypatch.setattr(clusters, "CONNECT", 0.5)
    with (
        pytest.raises(CourseError, match="No Dask scheduler answers"),
        Cluster("tcp://127.0.0.1:9", room),
    ):
        pass


@pytest.mark.parametrize(
    ("scheduler", "told"),
    [
        ("host:8786", "is no address"),
        ("tcp://host", "is no address"),
        ("tls://host:8786", "asks for a certificate"),
    ],
)
def test_an_address_that_cannot_be_used(room, scheduler, told):
    with pytest.raises(CourseError, match=told), Cluster(scheduler, room):
        pass


def test_a_cluster_without_workers(room, monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 0.5)
    with (
        distributed.LocalCluster(
            n_workers=0, dashboard_address=":0", silence_logs=50
        ) as empty,
        pytest.raises(CourseError, match="has had no worker for"),
        Cluster(empty.scheduler_address, room),
    ):
        pass


def test_a_worker_says_what_it_lacks(room, tmp_path):
    mark = room.root / "course" / ".cluster-test"
    mark.touch()
    fine = Needs(room.root, mark.name, versions(), machine(), trust=True)
    lacks = {
        "does not see": replace(fine, root=tmp_path),
        "Expected the same as": replace(fine, versions=("torch 1.0",)),
        "--db postgresql://": replace(fine, machine="another"),
    }
    for told, needs in lacks.items():
        with pytest.raises(CourseError, match=told):
            ready(needs)
    mark.unlink()
