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
from solutions.runs import Preset, run

ROOT = Path(__file__).parents[2]
TINY = Preset(
    steps=8, batch=4, rate=1e-3, warmup=2, d_model=16, num_layers=1, length=12
)
RECIPE = replace(RECIPES["gpt2"], presets={"cpu": TINY})
SCRIPT = """
import json, sys
import torch
torch.set_num_threads(1)
sys.path.insert(0, {tests!r})
from test_runs import RECIPE
from autograder.train import is_first, together
from solutions.runs import run
with together():
    result = run("tiny", RECIPE)
    if is_first():
        print(json.dumps([result.losses, result.value]))
"""


class Stopped(Exception):
    """What ends a run in these tests."""


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
    def stop(step, loss):
        if step == end:
            raise Stopped

    with pytest.raises(Stopped):
        run("tiny", RECIPE, folder=tmp_path, every=2, on_step=stop)
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


def test_two_processes_give_the_loss_of_one(whole):
    script = SCRIPT.format(tests=str(Path(__file__).parent))
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
    losses, value = json.loads(done.stdout.strip().splitlines()[-1])
    torch.testing.assert_close(losses, whole.losses, rtol=1e-4, atol=1e-5)
    assert value == pytest.approx(whole.value, rel=1e-3)


@pytest.mark.skipif(not shutil.which("g++"), reason="g++ is not there to compile with")
def test_the_way_of_the_gpu_presets_learns_the_same(whole):
    assert all(r.presets["gpu"].compiled for r in RECIPES.values())
    quick = replace(TINY, bfloat16=True, compiled=True)
    compiled = run("tiny", replace(RECIPE, presets={"gpu": quick}), preset="gpu")
    torch.testing.assert_close(compiled.losses, whole.losses, rtol=2e-2, atol=0)
    assert compiled.losses != whole.losses  # it did compute with fewer digits
