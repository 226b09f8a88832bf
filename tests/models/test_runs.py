"""A training that was stopped goes on with the same numbers, alone or among several."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from solutions.decoder_tasks import RECIPES
from solutions.recipes import RECIPES as ALL
from solutions.runs import Preset, mean_loss, run

ROOT = Path(__file__).parents[2]
TINY = Preset(
    steps=8, batch=4, rate=1e-3, warmup=2, d_model=16, num_layers=1, length=12
)
RECIPE = replace(RECIPES["gpt2"], presets={"cpu": TINY})
SCRIPT = """
import json, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
sys.path.insert(0, {tests!r})
from test_runs import RECIPE, Stopped, stop_at
from autograder.train import is_first, together
from solutions.runs import run
options = dict(sharded={sharded}, folder=Path({folder!r}), every=2)
with together():
    try:
        run("tiny", RECIPE, on_step=stop_at(5), **options)
    except Stopped:
        pass
    seen = []
    result = run("tiny", RECIPE, on_step=lambda *now: seen.append(now[0]), **options)
    if is_first():
        print(json.dumps([result.losses, result.value, seen]))
"""


class Stopped(Exception):
    """What ends a run in these tests."""


def stop_at(end):
    """Give what ends a run after a step."""

    def stop(step, loss):
        if step == end:
            raise Stopped

    return stop


@pytest.fixture(scope="module")
def whole():
    """Return what a run gives that nothing has stopped."""
    return run("tiny", RECIPE)


def test_a_run_can_be_repeated(whole):
    again = run("tiny", RECIPE)
    assert again.losses == whole.losses
    assert again.value == whole.value
    other = run("tiny", RECIPE, seed=1)
    assert other.losses != whole.losses


@pytest.mark.parametrize("end", [2, 3, 7])
def test_a_stopped_run_goes_on_with_the_same_numbers(tmp_path, whole, end):
    with pytest.raises(Stopped):
        run("tiny", RECIPE, folder=tmp_path, every=2, on_step=stop_at(end))
    seen = []
    after = run(
        "tiny",
        RECIPE,
        folder=tmp_path,
        every=2,
        on_step=lambda step, loss: seen.append(step),
    )
    kept = (end - 1) // 2 * 2  # the last checkpoint before the end
    assert seen == list(range(kept + 1, 9))
    assert after.losses == whole.losses
    assert after.value == whole.value


def test_a_run_that_has_ended_is_measured_again_and_not_trained(tmp_path, whole):
    run("tiny", RECIPE, folder=tmp_path)
    seen = []
    again = run(
        "tiny", RECIPE, folder=tmp_path, on_step=lambda step, loss: seen.append(step)
    )
    assert seen == []
    assert again.value == whole.value


def test_another_training_in_the_folder_is_refused(tmp_path):
    run("tiny", RECIPE, folder=tmp_path)
    with pytest.raises(ValueError, match="holds another training"):
        run("tiny", RECIPE, folder=tmp_path, seed=1)
    with pytest.raises(ValueError, match="Expected: cpu"):
        run("tiny", RECIPE, preset="huge")


def test_one_process_has_nobody_to_share_its_weights_with():
    with pytest.raises(ValueError, match="start it with torchrun"):
        run("tiny", RECIPE, sharded=True)


@pytest.mark.parametrize("sharded", [False, True], ids=["batches", "weights too"])
def test_two_processes_give_the_loss_of_one(tmp_path, whole, sharded):
    """Also when they were stopped, and share out the weights as well."""
    tests = str(Path(__file__).parent)
    script = SCRIPT.format(tests=tests, folder=str(tmp_path), sharded=sharded)
    command = ["torch.distributed.run", "--nproc-per-node", "2", "--no-python"]
    done = subprocess.run(
        [sys.executable, "-m", *command, sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    losses, value, seen = json.loads(done.stdout.strip().splitlines()[-1])
    assert seen == [5, 6, 7, 8]
    torch.testing.assert_close(losses, whole.losses, rtol=1e-4, atol=1e-5)
    assert value == pytest.approx(whole.value, rel=1e-3)
    alone = run("tiny", RECIPE, folder=tmp_path)  # one process takes up what two kept
    assert alone.value == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_the_loss_of_a_batch_is_that_of_its_parts(name):
    """So that it does not matter how many processes share it, or who gets what."""
    small = replace(ALL[name].presets["cpu"], steps=1, batch=3, d_model=16)
    task = ALL[name].new_task(replace(small, num_layers=2), False)
    task.model.eval()
    batch = task.batch(torch.Generator().manual_seed(0))
    with torch.no_grad():
        whole = torch.stack(task.loss(task.model, batch))
        parts = [
            torch.stack(task.loss(task.model, tuple(table[rank::2] for table in batch)))
            for rank in (0, 1)
        ]
    torch.testing.assert_close(parts[0] + parts[1], whole, rtol=1e-4, atol=1e-4)


def test_a_part_in_which_nothing_counts_adds_nothing():
    total, count = torch.tensor([0.0, 6.0]), torch.tensor([0, 3])
    assert mean_loss(total, count) == 2.0


@pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not there to compile with")
def test_the_way_of_the_gpu_presets_learns_the_same(whole):
    assert all(r.presets["gpu"].compiled for r in RECIPES.values())
    quick = replace(TINY, bfloat16=True, compiled=True)
    compiled = run("tiny", replace(RECIPE, presets={"gpu": quick}), preset="gpu")
    torch.testing.assert_close(compiled.losses, whole.losses, rtol=2e-2, atol=0)
    assert compiled.losses != whole.losses  # it did compute with fewer digits
