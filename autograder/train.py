"""Train the models of the course from the shell, from a learner's own pieces too."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograder.mine import load

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
    pieces = load(mine, "").PIECES if mine else {}
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
    return Trained(
        [name for name, notebook in pieces.items() if notebook],
        [name for name, notebook in pieces.items() if not notebook],
        right,
        list(zip(asked, said, strict=True)),
    )
