"""Train the models of the course from the shell, from a learner's own pieces too."""

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError
from autograder.mine import load, own_and_borrowed
from autograder.results import write_whole

D_MODEL, WARMUP, STEPS = 64, 100, 300  # as in the chapter on the Transformer


@dataclass(frozen=True)
class Trained:
    """What came of a training: the pieces of one's own, and how well it translates."""

    own: list[str]
    borrowed: list[str]
    exact_match: float
    samples: list[tuple[str, str]]


def train_translator(
    mine: Path | None, steps: int = STEPS, on_step: Callable[[int], None] = print
) -> Trained:
    """Train chapter 09's translator of numbers, and try it on numbers it has not seen.

    ``mine`` is a package made by ``course mine``; without it the reference is trained.
    Raises CourseError when the package cannot be used.
    """
    import torch

    transformer, task_of = load(mine, "transformer"), load(mine, "translation")
    own, borrowed = own_and_borrowed(load(mine, "")) if mine else ([], [])
    torch.set_num_threads(1)
    torch.manual_seed(0)
    task = task_of.number_task()
    sizes = {"num_heads": 4, "d_ff": 256, "num_layers": 2, "dropout": 0.0}
    model = transformer.Transformer(len(task.vocabulary), D_MODEL, **sizes)
    rate = lambda step: 0.25 * transformer.warmup_rate(step, D_MODEL, WARMUP)
    task_of.fit(model, task, rate, steps=steps, after=lambda step, _: on_step(step))
    right = task_of.exact_match(model, task, task.held_out)
    written = task_of.translations(model, task, task.held_out[:5])
    asked = [" ".join(source) for source, _ in task.held_out[:5]]
    said = ["".join(symbols).replace("_", " ") for symbols in written]
    return Trained(own, borrowed, right, list(zip(asked, said, strict=True)))


def known_models() -> list[str]:
    """List what ``course train`` can be asked for."""
    from solutions.recipes import RECIPES

    return ["translator", *RECIPES]


def train_model(
    name: str,
    preset: str,
    folder: Path,
    seed: int = 0,
    control: bool = False,
    sharded: bool = False,
    on_step: Callable[[int, float], None] = lambda step, loss: None,
    mine: Path | None = None,
):
    """Train a model of chapters 11 to 14, or go on where a run was stopped.

    ``mine`` is a package made by ``course mine``; without it the reference is trained.
    Keeps checkpoints in ``folder``, and in the end the curve and what was measured.
    Under ``torchrun`` the processes share the work, and with ``sharded`` the weights.
    Gives the :class:`solutions.runs.Result`; raises CourseError for what cannot be
    trained.
    """
    import torch

    recipes, runs = load(mine, "recipes").RECIPES, load(mine, "runs")
    if preset == "cpu":
        torch.set_num_threads(1)  # the models are tiny: a second thread would only wait
    if name not in recipes:
        expected = ", ".join(known_models())
        raise CourseError(f"There is no model {name!r}. Expected one of: {expected}.")
    recipe = recipes[name]
    options = {"seed": seed, "control": control, "sharded": sharded}
    try:
        with together():
            result = runs.run(name, recipe, preset, folder, on_step=on_step, **options)
    except ValueError as error:
        raise CourseError(str(error)) from error
    if is_first():
        write_whole(folder / "result.json", runs.written(result) + "\n")
        draw_curve(result, recipe, folder / "curve.svg")
    return result


@contextlib.contextmanager
def together():
    """Join the processes that ``torchrun`` has started, if it has."""
    import torch
    import torch.distributed as dist

    if "RANK" not in os.environ:
        yield
        return
    cuda = torch.cuda.is_available()
    if cuda:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if cuda else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()


def is_first() -> bool:
    """Tell whether this process is the one that writes and speaks for all."""
    return os.environ.get("RANK", "0") == "0"


def draw_curve(result, recipe, path: Path) -> None:
    """Draw the loss of every step, and its mean over stretches of fifty."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(result.losses, color="0.8", linewidth=0.8)
    width = 50
    starts = range(0, len(result.losses), width)
    chunks = [result.losses[start : start + width] for start in starts]
    middles = [start + len(c) / 2 for start, c in zip(starts, chunks, strict=True)]
    axes.plot(middles, [sum(c) / len(c) for c in chunks], marker="o", markersize=3)
    axes.set(xlabel="step", ylabel="loss", title=recipe.title)
    figure.savefig(path)
