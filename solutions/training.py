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


class Training:
    """A training in progress: what one step does, and what it takes to go on later.

    ``rate`` is a number, or a function of the step, which counts from 1; gradients are
    clipped to a norm of ``clip``; ``decay`` draws weights towards zero.
    Source: Loshchilov and Hutter (2019), AdamW; without decay it is Adam.
    """

    def __init__(
        self,
        model: nn.Module,
        rate: float | Callable[[int], float],
        *,
        clip: float = 1.0,
        decay: float = 0.0,
    ):
        """Begin at step 0."""
        self.model, self.rate, self.clip = model, rate, clip
        self.optimizer = torch.optim.AdamW(
            model.parameters(), lr=1.0, betas=(0.9, 0.98), weight_decay=decay
        )
        self.losses: list[float] = []

    def step(self, loss: Tensor, noted: float | None = None) -> None:
        """Descend by one step; note the loss, or another number in its place.

        Raises ValueError when the loss is not finite: training cannot recover from it.
        """
        step = len(self.losses) + 1
        if not torch.isfinite(loss):
            raise ValueError(
                f"the loss of step {step} is {loss.item()}; lower the rate."
            )
        rate = self.rate(step) if callable(self.rate) else self.rate
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        self.losses.append(loss.item() if noted is None else noted)

    def state_dict(self) -> dict:
        """Give everything that the next step depends on."""
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "losses": self.losses,
        }

    def load_state_dict(self, state: dict) -> None:
        """Go on from a state that :meth:`state_dict` gave."""
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.losses = list(state["losses"])


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
    """Train a model on batches, and give the history of its losses.

    ``loss_of(model, batch)`` gives the loss; ``rate`` and ``clip`` as in
    :class:`Training`; ``after(step, history)`` is called after every step. The model
    ends in eval mode. Raises ValueError when a loss is not finite.
    """
    training = Training(model, rate, clip=clip)
    history = History(training.losses)
    model.train()
    bar = tqdm(batches, total=steps, leave=False, disable=None)
    for step, batch in enumerate(bar, 1):
        training.step(loss_of(model, batch))
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
