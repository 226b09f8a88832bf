"""Generating text: how the next token is chosen, and what is kept to choose quickly.

Chapter 13. Logits are changed one after the other, as a list of small functions; a
cache keeps keys and values, so that each new token is read once.
"""

import functools
from collections.abc import Callable

import torch
from torch import Tensor

from solutions.masking import causal_mask, masked_softmax
from solutions.models import Model
from solutions.multi_head import share_heads
from solutions.positions import rotate
from solutions.scaling import scaled_scores

Choice = Callable[[Tensor], Tensor]


def greedy(logits: Tensor) -> Tensor:
    """Choose the likeliest token.

    Shapes: logits (batch, vocab_size) -> (batch,) of ids, likewise below.
    """
    return logits.argmax(dim=-1)


def with_temperature(logits: Tensor, temperature: float) -> Tensor:
    """Make the choice bolder (above 1) or safer (below 1); at 0 only the best is left.

    Shapes: (batch, vocab_size) -> the same. Raises ValueError below 0.
    Source: Ackley et al. (1985); Holtzman et al. (2020), section 3.3.
    """
    if temperature < 0:
        raise ValueError(f"temperature is {temperature}; expected 0 or more.")
    if temperature == 0:
        best = logits.argmax(dim=-1, keepdim=True)
        return torch.full_like(logits, -torch.inf).scatter(-1, best, 0.0)
    return logits / temperature


def top_k(logits: Tensor, k: int) -> Tensor:
    """Keep the ``k`` likeliest tokens, exactly so many even if some are alike.

    Shapes: (batch, vocab_size) -> the same, minus infinity where dropped.
    Raises ValueError for less than one.
    Source: Fan et al. (2018), section 5.2.
    """
    if k < 1:
        raise ValueError(f"k is {k}; expected at least 1.")
    kept = logits.topk(min(k, logits.shape[-1]), dim=-1)
    return torch.full_like(logits, -torch.inf).scatter(-1, kept.indices, kept.values)


def top_p(logits: Tensor, p: float) -> Tensor:
    """Keep the fewest tokens whose probabilities add up to at least ``p``.

    One is always kept. Shapes: (batch, vocab_size) -> the same, minus infinity where
    dropped. Raises ValueError unless p is above 0 and at most 1.
    Source: Holtzman et al. (2020), equation 2.
    """
    if not 0 < p <= 1:
        raise ValueError(f"p is {p}; expected more than 0 and at most 1.")
    ordered, places = logits.sort(dim=-1, descending=True, stable=True)
    shares = torch.softmax(ordered.double(), dim=-1)
    before = shares.cumsum(dim=-1) - shares  # what the likelier tokens have already
    ordered = ordered.masked_fill(before >= p - 1e-9, -torch.inf)
    return torch.full_like(logits, -torch.inf).scatter(-1, places, ordered)


def less_repetition(logits: Tensor, written: Tensor, penalty: float) -> Tensor:
    """Make tokens less likely that are there already; a negative score is multiplied.

    Shapes: logits (batch, vocab_size), written (batch, seq) of ids -> as logits.
    Source: Keskar et al. (2019), section 4.1, with negative scores put right.
    """
    scores = logits.gather(-1, written)
    lower = torch.where(scores > 0, scores / penalty, scores * penalty)
    return logits.scatter(-1, written, lower)


def sample(logits: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Draw a token by its probability."""
    shares = torch.softmax(logits, dim=-1)
    return torch.multinomial(shares, 1, generator=generator).squeeze(-1)


def pad_left(texts: list[list[int]], pad_id: int) -> tuple[Tensor, Tensor]:
    """Make one batch of texts of different lengths, with the filling in front.

    Every text then ends in the last column, where the next token is written.
    Shapes: -> ids and whether they are real, both (len(texts), longest).
    """
    longest = max(map(len, texts))
    rows = [[pad_id] * (longest - len(text)) + text for text in texts]
    real = [[False] * (longest - len(text)) + [True] * len(text) for text in texts]
    return torch.tensor(rows), torch.tensor(real)


def real_places(real: Tensor) -> Tensor:
    """Number the real tokens of each text from 0, so that filling changes nothing.

    Filling gets 0 too, which nobody looks at.
    Shapes: (batch, seq) of booleans -> (batch, seq) of integers.
    """
    return (real.long().cumsum(dim=-1) - 1).clamp(min=0)


def cached_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    kept: tuple[Tensor, Tensor] | None = None,
    bias: Tensor | None = None,
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Attend from new tokens to themselves and to all before, whose keys are kept.

    Queries and keys are turned by their positions in the whole text. ``bias`` is added
    to the scores of the whole text, of which the new tokens have the last rows.
    Shapes: queries (batch, heads, new, d_head), keys and values (batch, kv_heads, new,
    d_head), kept a pair of (batch, kv_heads, past, d_head), bias (heads, past + new,
    past + new) -> what was found, as queries, and the pair to keep for the next time.
    Source: Shazeer (2019), section 2.4; Su et al. (2021), section 3.2.2.
    """
    past, new = kept[0].shape[2] if kept else 0, queries.shape[2]
    places = torch.arange(past, past + new, device=queries.device)
    queries, keys = rotate(queries, places), rotate(keys, places)
    if kept:
        keys = torch.cat([kept[0], keys], dim=2)
        values = torch.cat([kept[1], values], dim=2)
    shared = [share_heads(t, queries.shape[1]) for t in (keys, values)]
    scores = scaled_scores(queries, shared[0])
    if bias is not None:
        scores = scores + bias[:, past:]
    mask = causal_mask(new, past + new).to(queries.device)
    return masked_softmax(scores, mask) @ shared[1], (keys, values)


class Writer:
    """A model that is writing: what it has read and written, and what it keeps.

    ``tokens`` (batch, seq) are the prompt of a decoder, or the source of an
    encoder–decoder; ``real`` as tokens, False at filling, which stands on the left.
    """

    def __init__(self, model: Model, tokens: Tensor, real=None, use_cache: bool = True):
        """Read the source once, and begin."""
        self.model, config = model, model.config
        real = torch.ones_like(tokens, dtype=torch.bool) if real is None else real
        self.memory = self.source_real = None
        if config.decoder_layers:
            self.memory, self.source_real = model.states(tokens, real)[-1], real
            tokens = torch.full_like(tokens[:, :1], config.begin_id)
            real = torch.ones_like(tokens, dtype=torch.bool)
        self.tokens, self.real, self.prompt_len = tokens, real, tokens.shape[1]
        self.cache = model.new_cache() if use_cache else None

    @property
    def written(self) -> Tensor:
        """Give what has been written after the prompt, as (batch, steps)."""
        return self.tokens[:, self.prompt_len :]

    def logits(self) -> Tensor:
        """Score every possible next token: (batch, vocab_size)."""
        past = self.cache["length"] if self.cache else 0
        new = self.tokens[:, past:]
        if self.memory is not None:
            more = {"real": self.real, "cache": self.cache}
            x = self.model.decoder_states(new, self.memory, self.source_real, **more)
        else:
            more = {"cache": self.cache, "places": real_places(self.real)[:, past:]}
            x = self.model.states(new, self.real, **more)
        return self.model.head(x[-1][:, -1])

    def append(self, chosen: Tensor) -> None:
        """Write one token behind each text: (batch,) of ids."""
        self.tokens = torch.cat([self.tokens, chosen[:, None]], dim=1)
        self.real = torch.cat([self.real, torch.ones_like(chosen[:, None]) == 1], dim=1)

    def reorder(self, rows: Tensor) -> None:
        """Go on with other rows of the batch: (batch,) of integers."""
        self.tokens, self.real = self.tokens[rows], self.real[rows]
        if self.memory is not None:
            self.memory, self.source_real = self.memory[rows], self.source_real[rows]
        for layer in self.cache["layers"] if self.cache else ():
            for kept in layer:
                kept.update({name: tensor[rows] for name, tensor in kept.items()})


def without_gradients(write: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let a function write in inference mode, which is faster than ``no_grad``.

    What it gives is an ordinary tensor again, from which one may learn.
    """

    @functools.wraps(write)
    def run(*args, **options) -> Tensor:
        with torch.inference_mode():
            written = write(*args, **options)
        return written.clone()

    return run


@without_gradients
def generate(
    model: Model,
    tokens: Tensor,
    max_new: int,
    choose: Choice = greedy,
    *,
    real: Tensor | None = None,
    change: Callable[[Tensor, Tensor], Tensor] | None = None,
    use_cache: bool = True,
) -> Tensor:
    """Write up to ``max_new`` tokens, until every text has ended.

    ``change(logits, written)`` is applied before each choice. Shapes: tokens and real
    (batch, seq) -> (batch, at most max_new); what follows an end is filling.
    """
    writer = Writer(model, tokens, real, use_cache)
    ended = torch.zeros(len(tokens), dtype=torch.bool, device=tokens.device)
    for _ in range(max_new):
        logits = writer.logits()
        if change is not None:
            logits = change(logits, writer.tokens)
        chosen = choose(logits).masked_fill(ended, model.config.pad_id)
        writer.append(chosen)
        ended = ended | (chosen == model.config.end_id)
        if ended.all():
            break
    return writer.written


def next_beams(
    scores: Tensor, logits: Tensor, count: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Find the ``count`` best ways to go on, among all beams and all tokens.

    ``scores`` are the log-probabilities of the beams so far.
    Shapes: scores (beams,), logits (beams, vocab_size) -> three times (count,), best
    first: the new log-probabilities, the beams that go on, and the tokens they take.
    Source: Sutskever et al. (2014), section 3.2.
    """
    total = scores[:, None] + torch.log_softmax(logits, dim=-1)
    best, places = total.flatten().topk(count)
    vocab_size = logits.shape[-1]
    return best, places // vocab_size, places % vocab_size


def text_score(log_probability: float, length: int, penalty: float) -> float:
    """Weigh a text's log-probability by its length, so that texts can be compared.

    Source: Wu et al. (2016), section 7, in its simplest form: length to a power.
    """
    return log_probability / length**penalty


@without_gradients
def beam_search(
    model: Model, tokens: Tensor, max_new: int, num_beams: int, length_penalty=1.0
) -> Tensor:
    """Follow the ``num_beams`` likeliest texts, and give the best that has ended.

    Texts are compared by :func:`text_score`. Shapes: tokens (1, seq) -> (at most
    max_new,). Source: Sutskever et al. (2014), section 3.2.
    """
    writer, end_id = Writer(model, tokens), model.config.end_id
    writer.reorder(torch.zeros(num_beams, dtype=torch.long, device=tokens.device))
    scores = torch.full((num_beams,), -torch.inf, device=tokens.device)
    scores[0] = 0.0  # at first all beams are the same: follow one
    finished: list[tuple[float, Tensor]] = []
    for step in range(1, max_new + 1):
        # each beam may end: twice as many as are needed, so that enough go on
        best, rows, chosen = next_beams(scores, writer.logits(), 2 * num_beams)
        ends = chosen == end_id
        for i in ends[:num_beams].nonzero().flatten().tolist():
            text = torch.cat([writer.written[rows[i]], chosen[i : i + 1]])
            score = text_score(best[i].item(), step, length_penalty)
            finished.append((score, text))
        on = (~ends).nonzero().flatten()[:num_beams]
        scores = best[on]
        writer.reorder(rows[on])
        writer.append(chosen[on])
        if len(finished) >= num_beams:
            break
    if len(finished) < num_beams:  # a text that has not ended counts as it is
        finished += [
            (text_score(score.item(), max_new, length_penalty), text)
            for score, text in zip(scores, writer.written, strict=True)
        ]
    return max(finished, key=lambda pair: pair[0])[1]


def cache_bytes(cache: dict) -> int:
    """Count the bytes of all keys and values that a cache holds."""
    tensors = [t for layer in cache["layers"] for kept in layer for t in kept.values()]
    return sum(t.numel() * t.element_size() for t in tensors)
