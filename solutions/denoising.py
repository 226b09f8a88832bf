"""How encoder–decoder models learn: a text is spoilt, and must be put right.

Chapter 14: T5, BART and M2M-100. Everything works on lists of token ids.
"""

import itertools

import torch
from torch import Tensor

Spans = list[tuple[int, int]]


def draw_spans(
    length: int, rate: float, mean_length: float, generator: torch.Generator
) -> Spans:
    """Choose spans that hold about ``rate`` of a text, in order and not touching.

    Gives (start, length) of each; all lengths are at least one.
    Source: Raffel et al. (2020), section 3.1.4, with a rate of 0.15 and a mean of 3.
    """
    hidden = max(1, round(length * rate))
    count = max(1, min(round(hidden / mean_length), hidden, length - hidden))
    sizes = _parts(hidden, count, generator)
    gaps = _parts(length - hidden, count, generator)
    spans, place = [], 0
    for gap, size in zip(gaps, sizes, strict=True):
        spans.append((place + gap, size))
        place += gap + size
    return spans


def _parts(total: int, count: int, generator: torch.Generator) -> list[int]:
    """Cut a whole number into ``count`` parts of at least one, at random."""
    cuts = torch.randperm(total - 1, generator=generator)[: count - 1] + 1
    edges = [0, *sorted(cuts.tolist()), total]
    return [after - before for before, after in itertools.pairwise(edges)]


def span_corruption(
    tokens: list[int], spans: Spans, sentinels: list[int]
) -> tuple[list[int], list[int]]:
    """Replace each span by a sentinel, and ask for the spans, each behind its sentinel.

    The target ends with one more sentinel. Raises ValueError with too few sentinels.
    Source: Raffel et al. (2020), section 3.1.4 and figure 2.
    """
    if len(sentinels) <= len(spans):
        raise ValueError(
            f"{len(spans)} spans need {len(spans) + 1} sentinels; got {len(sentinels)}."
        )
    inputs, targets, place = [], [], 0
    for (start, length), sentinel in zip(spans, sentinels, strict=False):
        inputs += [*tokens[place:start], sentinel]
        targets += [sentinel, *tokens[start : start + length]]
        place = start + length
    return inputs + tokens[place:], [*targets, sentinels[len(spans)]]


def put_back(inputs: list[int], answer: list[int], sentinels: list[int]) -> list[int]:
    """Read an answer to :func:`span_corruption`, and restore the text.

    What an answer leaves out is nothing; a sentinel that it repeats goes on; what it
    writes behind a sentinel that ``inputs`` does not have is ignored.
    Source: Raffel et al. (2020), section 3.1.4 and figure 2.
    """
    names, spans, name = set(sentinels), {}, None
    for token in answer:
        if token in names:
            name = token
        else:
            spans.setdefault(name, []).append(token)
    restored = []
    for token in inputs:
        restored += spans.get(token, []) if token in names else [token]
    return restored


def mask_some(tokens: list[int], chosen: list[bool], mask_id: int) -> list[int]:
    """Put a mask in the place of each chosen token.

    Source: Lewis et al. (2020), section 2.2, "token masking".
    """
    return [mask_id if c else token for token, c in zip(tokens, chosen, strict=True)]


def delete_some(tokens: list[int], chosen: list[bool]) -> list[int]:
    """Leave the chosen tokens out; the model must find out where.

    Source: Lewis et al. (2020), section 2.2, "token deletion".
    """
    return [token for token, c in zip(tokens, chosen, strict=True) if not c]


def infill(tokens: list[int], spans: Spans, mask_id: int) -> list[int]:
    """Put one mask in the place of each span; a span of length 0 is a mask too many.

    Source: Lewis et al. (2020), section 2.2, "text infilling".
    """
    spoilt, place = [], 0
    for start, length in spans:
        spoilt += [*tokens[place:start], mask_id]
        place = start + length
    return spoilt + tokens[place:]


def draw_infilling(
    length: int, rate: float, mean_length: float, generator: torch.Generator
) -> Spans:
    """Draw spans for :func:`infill`, their lengths by a Poisson law.

    Spans are drawn until they use up a share of ``rate``; an empty one uses up one
    token, and one that finds no room is drawn again.
    Gives (start, length), in order and not overlapping.
    Source: Lewis et al. (2020), section 2.2, with a mean of 3.
    """
    wanted, spans, free = round(length * rate), [], list(range(length))
    mean = torch.tensor([float(mean_length)])
    while wanted > 0 and free:
        size = int(torch.poisson(mean, generator=generator).item())
        size = min(size, wanted)
        start = free[torch.randint(len(free), (1,), generator=generator).item()]
        taken = range(start, start + size)
        if all(place in free for place in taken):
            spans.append((start, size))
            free = [p for p in free if p not in taken and p != start]
            wanted -= max(size, 1)
    return sorted(spans)


def permute_sentences(sentences: list[list[int]], order: list[int]) -> list[int]:
    """Put the sentences of a document into another order: ``order[i]`` comes i-th.

    Source: Lewis et al. (2020), section 2.2, "sentence permutation".
    """
    return [token for place in order for token in sentences[place]]


def rotate_document(tokens: list[int], start: int) -> list[int]:
    """Begin a document at another token; what came before it goes to the end.

    Source: Lewis et al. (2020), section 2.2, "document rotation".
    """
    return tokens[start:] + tokens[:start]


def shift_right(targets: Tensor, begin_id: int, pad_id: int) -> Tensor:
    """Give the decoder what it has written so far: a beginning, then all but the last.

    Places marked -100, which do not count in the loss, become filling.
    Shapes: targets (batch, seq) of ids -> the same.
    Source: Lewis et al. (2020), in their published code.
    """
    shifted = targets.roll(1, dims=-1)
    shifted[:, 0] = begin_id
    return shifted.masked_fill(shifted == -100, pad_id)


def with_languages(
    source: list[int], target: list[int], spoken: int, wanted: int, end_id: int
) -> tuple[list[int], list[int]]:
    """Tell a translator both languages: each side begins with the token of its own.

    Both sides end with ``end_id``.
    Source: Fan et al. (2021), section 2.1, as in the published M2M-100.
    """
    return [spoken, *source, end_id], [wanted, *target, end_id]
