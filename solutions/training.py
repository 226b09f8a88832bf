"""Training: the one loop that every experiment of the course uses.

Small on purpose: a device, a seed, a step, a history to plot.
"""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from tqdm import tqdm


def best_device() -> torch.device:
    """Choose the GPU where there is one, and the CPU otherwise."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def seed_everything(seed: int) -> torch.Generator:
    """Start Python's and PyTorch's random numbers anew; give a generator of its own."""
    random.seed(seed)
    torch.manual_seed(seed)
    return torch.Generator().manual_seed(seed)


@dataclass
class History:
    """What happened in a training: the loss of every step, and what was measured."""

    losses: list[float] = field(default_factory=list)
    measured: dict[str, list[tuple[int, float]]] = field(default_factory=dict)

    def note(self, name: str, value: float) -> None:
        """Keep a measurement together with the step at which it was made."""
        self.measured.setdefault(name, []).append((len(self.losses), value))

    def smooth(self, width: int = 20) -> list[float]:
        """Average each ``width`` losses that stand together, for a readable curve."""
        chunks = torch.tensor(self.losses).split(width)
        return [chunk.mean().item() for chunk in chunks]


def train(
    model: nn.Module,
    batches: Iterable,
    loss_of: Callable[..., Tensor],
    rate: float | Callable[[int], float] = 1e-3,
    *,
    clip: float = 1.0,
    steps: int | None = None,
    after: Callable[[int, History], None] | None = None,
) -> History:
    """Train a model on batches with Adam, and give the history of its losses.

    ``loss_of(model, batch)`` gives the loss; ``rate`` is a number, or a function of
    the step, which counts from 1; gradients are clipped to a norm of ``clip``;
    ``after(step, history)`` is called after every step. The model ends in eval mode.
    Raises ValueError when a loss is not finite: training cannot recover from that.
    """
    first = rate(1) if callable(rate) else rate
    optimizer = torch.optim.Adam(model.parameters(), lr=first, betas=(0.9, 0.98))
    history = History()
    model.train()
    bar = tqdm(batches, total=steps, leave=False, disable=None)
    for step, batch in enumerate(bar, 1):
        if callable(rate):
            optimizer.param_groups[0]["lr"] = rate(step)
        loss = loss_of(model, batch)
        if not torch.isfinite(loss):
            raise ValueError(
                f"the loss of step {step} is {loss.item()}; lower the rate."
            )
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        history.losses.append(loss.item())
        if after is not None:
            after(step, history)
            model.train()
        if step == steps:
            break
    model.eval()
    return history


def shuffled(*tensors: Tensor, size: int, generator: torch.Generator):
    """Give batches of ``size`` rows for ever, in a new order each time round.

    Shapes: each tensor (rows, ...) -> tuples of (size, ...).
    """
    while True:
        order = torch.randperm(len(tensors[0]), generator=generator)
        for chosen in order.split(size):
            yield tuple(tensor[chosen] for tensor in tensors)
