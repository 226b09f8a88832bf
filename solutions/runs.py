"""Trainings that can be stopped and taken up again, on one processor or on several.

Chapters 11 to 14. What is trained is a :class:`Recipe`: a task, how the result is
measured, the range it must land in, and a control that must not reach it.
"""

import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from solutions.models import Block
from solutions.training import Training, best_device, seed_everything

Batch = tuple[Tensor, ...]


class Task(Protocol):
    """What a model learns: its data, its loss, and what it is asked in the end.

    ``batch(generator)`` draws tensors whose first axes are the rows of the batch;
    ``loss(model, batch)`` gives a sum over what counts, and how much counts, so that
    the parts of a batch can be worked on in several places; where the loss is made of
    several averages, these are vectors. ``measure(model)`` is the
    metric, on what was not learnt from; ``samples(model)`` are pairs to read.
    """

    model: nn.Module

    def batch(self, generator: torch.Generator) -> Batch: ...  # noqa: D102
    def loss(self, model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]: ...  # noqa: D102
    def measure(self, model: nn.Module) -> float: ...  # noqa: D102
    def samples(self, model: nn.Module) -> list[tuple[str, str]]: ...  # noqa: D102


@dataclass(frozen=True)
class Preset:
    """How large and how long: the sizes of the model and of the training."""

    steps: int
    batch: int
    rate: float
    warmup: int = 50
    d_model: int = 128
    num_layers: int = 3
    num_heads: int = 4
    length: int = 64
    weight_decay: float = 0.0
    bfloat16: bool = False
    compiled: bool = False

    @property
    def sizes(self) -> dict[str, int]:
        """Give the sizes as the configuration of a model wants them."""
        widths = {"d_model": self.d_model, "d_ff": 4 * self.d_model}
        return widths | {"num_layers": self.num_layers, "num_heads": self.num_heads}

    def rate_at(self, step: int) -> float:
        """Give the rate of a step: up in a line, down in half a wave to a tenth."""
        if step <= self.warmup:
            return self.rate * step / self.warmup
        share = (step - self.warmup) / max(1, self.steps - self.warmup)
        return self.rate * (0.1 + 0.45 * (1 + math.cos(math.pi * min(share, 1.0))))


@dataclass(frozen=True)
class Recipe:
    """A training with what it must reach, and what its control must not reach.

    ``new_task(preset, control)`` creates the task; ``control`` leaves out the very
    thing that the task is about. ``band`` is where ``metric`` lands over three seeds,
    ``control_band`` where it lands without it; both for the preset "cpu".
    """

    title: str
    metric: str
    band: tuple[float, float]
    control: str
    control_band: tuple[float, float]
    new_task: Callable[[Preset, bool], Task]
    presets: dict[str, Preset]


@dataclass
class Result:
    """What came of a training; ``seconds`` is its own time, without the measuring."""

    name: str
    preset: str
    seed: int
    control: bool
    value: float
    seconds: float
    losses: list[float]
    samples: list[tuple[str, str]] = field(default_factory=list)


class _Loss(nn.Module):
    """A model together with its loss, so that both can be compiled and shared out."""

    def __init__(self, task: Task):
        super().__init__()
        self.task, self.model = task, task.model

    def forward(self, *batch: Tensor) -> tuple[Tensor, Tensor]:
        return self.task.loss(self.model, batch)


def run(
    name: str,
    recipe: Recipe,
    preset: str = "cpu",
    folder: Path | None = None,
    *,
    seed: int = 0,
    control: bool = False,
    sharded: bool = False,
    every: int = 50,
    on_step: Callable[[int, float], None] = lambda step, loss: None,
) -> Result:
    """Train to the end, from where ``folder`` says that an earlier run stopped.

    Every ``every`` steps all that matters is written there, at once or not at all; a
    run that was killed goes on with the same numbers. Under ``torchrun`` each process
    works on its share of every batch; ``sharded`` lets each keep only its share of the
    weights, too. Raises ValueError when the folder holds another training, when the
    preset is not known, or when there is one process only and nothing to share.
    """
    if preset not in recipe.presets:
        known = ", ".join(recipe.presets)
        raise ValueError(f"There is no preset {preset!r}. Expected: {known}.")
    if sharded and not dist.is_initialized():
        raise ValueError("Weights are shared among processes: start it with torchrun.")
    sizes, device = recipe.presets[preset], best_device()
    generator = seed_everything(seed)
    task = recipe.new_task(sizes, control)
    task.model.to(device)
    parts = _Loss(task)
    if sharded:
        _shard(parts, device)
    kind = ShardedTraining if sharded else Training
    training = kind(task.model, sizes.rate_at, decay=sizes.weight_decay)
    who = {"name": name, "preset": preset, "seed": seed, "control": control}
    seconds = _resume(folder, who, training, generator)
    if sizes.compiled:
        parts = torch.compile(parts)
    if dist.is_initialized() and not sharded:
        parts = nn.parallel.DistributedDataParallel(parts)
    began = time.perf_counter() - seconds
    task.model.train()
    while (step := len(training.losses)) < sizes.steps:
        batch = _share(task.batch(generator), device)
        with torch.autocast(device.type, torch.bfloat16, enabled=sizes.bfloat16):
            total, count = parts(*batch)
        training.step(*_of_all(total, count))
        on_step(step + 1, training.losses[-1])
        seconds = time.perf_counter() - began
        if folder and ((step + 1) % every == 0 or step + 1 == sizes.steps):
            _keep(folder, who | {"seconds": seconds}, training, generator)
    if sharded:
        weights = training.state_dict()["model"]
        seed_everything(seed)
        task = recipe.new_task(sizes, control)
        task.model.to(device).load_state_dict(weights)
    task.model.eval()
    with torch.no_grad():
        value, samples = task.measure(task.model), task.samples(task.model)
    return Result(
        **who, value=value, seconds=seconds, losses=training.losses, samples=samples
    )


class ShardedTraining(Training):
    """A training whose weights, slopes and moments are spread over the processes.

    Its state is whole, as that of any training: all processes must ask for it at once.
    Source: Rajbhandari et al. (2020), ZeRO; PyTorch's ``fully_shard``.
    """

    def state_dict(self) -> dict:
        """Give everything that the next step depends on."""
        state = super().state_dict()
        moments = state["optimizer"]["state"]
        state["model"] = _gathered(state["model"])
        state["optimizer"]["state"] = {i: _gathered(moments[i]) for i in moments}
        return state

    def load_state_dict(self, state: dict) -> None:
        """Go on from a state that :meth:`state_dict` gave."""
        weights, moments = state["model"], state["optimizer"]["state"]
        places = self.model.state_dict()
        parameters = self.optimizer.param_groups[0]["params"]
        model = {name: _spread(weights[name], places[name]) for name in weights}
        spread = {
            i: {name: _spread(moments[i][name], parameters[i]) for name in moments[i]}
            for i in moments
        }
        optimizer = state["optimizer"] | {"state": spread}
        super().load_state_dict(state | {"model": model, "optimizer": optimizer})


def _gathered(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Put the tensors together of which each process has a share."""
    return {
        name: tensor.full_tensor() if isinstance(tensor, DTensor) else tensor
        for name, tensor in tensors.items()
    }


def _spread(whole: Tensor, like: Tensor) -> Tensor:
    """Share out a tensor as another of its shape is; leave any other as it is."""
    if not isinstance(like, DTensor) or whole.shape != like.shape:
        return whole
    whole = whole.to(like.device)
    return distribute_tensor(whole, like.device_mesh, like.placements)


def _shard(parts: nn.Module, device: torch.device) -> None:
    """Let each process keep a share of the weights; a block has them all while it runs.

    What lies outside the blocks, such as the embedding that is used twice, is gathered
    for the whole of a step.
    """
    mesh = dist.device_mesh.init_device_mesh(device.type, (dist.get_world_size(),))
    for block in [part for part in parts.modules() if isinstance(part, Block)]:
        fully_shard(block, mesh=mesh)
    fully_shard(parts, mesh=mesh)


def _share(batch: Batch, device: torch.device) -> Batch:
    """Take the rows of this process."""
    rank, world = 0, 1
    if dist.is_initialized():
        rank, world = dist.get_rank(), dist.get_world_size()
    return tuple(tensor[rank::world].to(device) for tensor in batch)


def mean_loss(total: Tensor, count: Tensor) -> Tensor:
    """Divide sums by how much counted, if anything did, and add these averages."""
    return (total / count.clamp(min=1)).sum()


def _of_all(total: Tensor, count: Tensor) -> tuple[Tensor, float]:
    """Give the loss to descend, and the loss of the whole batch to write down.

    DDP averages the slopes of all processes. Each divides its sum by the count of all,
    times their number, so that the average is the slope of the whole batch's mean.
    """
    if not dist.is_initialized():
        loss = mean_loss(total, count)
        return loss, loss.item()
    sums = torch.stack([total.detach().float(), count.float()])
    dist.all_reduce(sums)
    loss = mean_loss(total * dist.get_world_size(), sums[1])
    return loss, mean_loss(*sums).item()


def _keep(folder: Path, who: dict, training: Training, generator) -> None:
    """Write a checkpoint beside the old one, then put it in its place."""
    state = {
        "who": json.dumps(who),
        "training": training.state_dict(),
        "batches": generator.get_state(),
        "chance": torch.get_rng_state(),
    }
    if dist.is_initialized() and dist.get_rank() > 0:
        return
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / "checkpoint.new"
    torch.save(state, fresh)
    fresh.replace(folder / "checkpoint.pt")


def _resume(folder: Path | None, who: dict, training: Training, generator) -> float:
    """Take up what a checkpoint holds; give the seconds that it took."""
    path = folder / "checkpoint.pt" if folder else None
    if path is None or not path.exists():
        return 0.0
    state = torch.load(path, weights_only=True)
    found = json.loads(state["who"])
    seconds = found.pop("seconds")
    if found != who:
        raise ValueError(
            f"{folder} holds another training: {found}. Expected {who}. "
            "Choose another folder, or remove it."
        )
    training.load_state_dict(state["training"])
    generator.set_state(state["batches"])
    torch.set_rng_state(state["chance"])
    return seconds


def written(result: Result) -> str:
    """Give a result as JSON, for a file beside the checkpoint."""
    return json.dumps(asdict(result), ensure_ascii=False, indent=1)
