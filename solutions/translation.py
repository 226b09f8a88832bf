"""A translation task that fits into a minute: numbers, from English into Korean.

Chapter 09. Everything takes the model as an argument, so that any model with the
interface of :class:`~solutions.transformer.Transformer` can be trained and measured.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from solutions.data import Vocabulary, number_pairs
from solutions.training import History, seed_everything, shuffled, train
from solutions.transformer import Transformer, label_smoothing_loss, translate

Pairs = list[tuple[tuple[str, ...], tuple[str, ...]]]


@dataclass(frozen=True)
class NumberTask:
    """Pairs to learn from, other pairs to be tested on, and one vocabulary for all."""

    vocabulary: Vocabulary
    known: Pairs
    held_out: Pairs

    def source(self, pairs: Pairs) -> Tensor:
        """Give the English sides as ids: (len(pairs), source_len)."""
        return self.vocabulary.batch([source for source, _ in pairs])

    def target(self, pairs: Pairs) -> Tensor:
        """Give the Korean sides, with beginning and end: (len(pairs), target_len)."""
        targets = [target for _, target in pairs]
        return self.vocabulary.batch(targets, begin=True, end=True)


def number_task(
    largest: int = 1_000_000, known: int = 8000, held_out: int = 500, seed: int = 0
) -> NumberTask:
    """Draw numbers below ``largest`` to learn from, and others to be tested on."""
    pairs = number_pairs(largest, known + held_out, seed=seed)
    vocabulary = Vocabulary.of(side for pair in pairs for side in pair)
    return NumberTask(vocabulary, pairs[:known], pairs[known:])


def fit(
    model: Transformer,
    task: NumberTask,
    rate: float | Callable[[int], float],
    *,
    steps: int,
    batch: int = 64,
    smoothing: float = 0.1,
    after: Callable[[int, History], None] | None = None,
) -> History:
    """Train a translator with teacher forcing; the batches are the same each time."""

    def loss_of(model: Transformer, pair: tuple[Tensor, Tensor]) -> Tensor:
        source, target = pair
        logits = model(source, target[:, :-1])
        return label_smoothing_loss(logits, target[:, 1:], smoothing)

    tensors = task.source(task.known), task.target(task.known)
    batches = shuffled(*tensors, size=batch, generator=seed_everything(0))
    return train(model, batches, loss_of, rate, steps=steps, after=after)


def translations(
    model: Transformer, task: NumberTask, pairs: Pairs
) -> list[tuple[str, ...]]:
    """Translate the English sides of some pairs, as symbols."""
    begin, end = task.vocabulary.batch([()], begin=True, end=True)[0].tolist()
    longest = task.target(task.known).shape[1]
    written = translate(model, task.source(pairs), begin, end, longest)
    return [task.vocabulary.words(row) for row in written.cpu()]


def exact_match(model: Transformer, task: NumberTask, pairs: Pairs) -> float:
    """Give the share of pairs that are translated without a single mistake."""
    written = translations(model, task, pairs)
    right = [mine == target for mine, (_, target) in zip(written, pairs, strict=True)]
    return sum(right) / len(right)
