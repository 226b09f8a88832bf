"""The sampler: which tokens stay in play, with what probability, and one is drawn."""

from collections.abc import Sequence

import torch
from torch import Tensor

from book.visuals.elements import Element, finite, plain_table, rounded


def sampler(
    logits: Tensor,
    vocabulary: Sequence[str],
    beginnings: Sequence[str],
    caption: str,
    most: int = 40,
) -> Element:
    """Show next-token distributions, for the reader to cut and to draw from.

    Each row of ``logits`` says what may follow one of the ``beginnings``; the ``most``
    likeliest tokens are shown, as if there were no others. Tokens with a logit of minus
    infinity are left out.
    Shapes: logits (len(beginnings), len(vocabulary)).
    Raises ValueError when the shapes do not fit, when there is nothing to show, or when
    a logit is NaN or plus infinity.
    """
    expected = len(beginnings), len(vocabulary)
    if tuple(logits.shape) != expected or not 0 < expected[0] <= 8:
        raise ValueError(
            f"logits have shape {tuple(logits.shape)}; expected {expected}, a row for "
            "each of 1 to 8 beginnings and a column for each token."
        )
    if not 2 <= most <= 100:
        raise ValueError(f"most is {most}; expected from 2 to 100.")
    shown = []
    for text, row in zip(beginnings, logits.detach().double().cpu(), strict=True):
        values, places = row.topk(min(most, len(vocabulary)))
        there = values != -torch.inf
        values, places = values[there].tolist(), places[there].tolist()
        finite(f"the logits after {text!r}", values)
        if len(values) < 2:
            raise ValueError(
                f"{len(values)} tokens after {text!r}; expected 2 or more."
            )
        tokens = [vocabulary[place] for place in places]
        shown.append(
            {"text": text, "tokens": tokens, "logits": list(map(rounded, values))}
        )
    data = {"caption": caption, "beginnings": shown}
    return Element("token-sampler", data, _plain_table(data))


def _plain_table(data: dict) -> str:
    rows = []
    for beginning in data["beginnings"]:
        shares = torch.softmax(torch.tensor(beginning["logits"]), dim=-1).tolist()
        best = zip(beginning["tokens"], shares, strict=True)
        told = [f"{token} {share:.2f}" for token, share in list(best)[:5]]
        rows.append([beginning["text"], ", ".join(told)])
    return plain_table(data["caption"], ["text so far", "likeliest next"], rows)
