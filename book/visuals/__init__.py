"""Interactive elements of the book: torch computes, the page lets the reader switch.

    from book.visuals import Sentence, attention_explorer

    attention_explorer(
        [Sentence(tokens, queries, keys, values)],
        caption="Which words does each word look at?",
    )

The book loads the element's script and style on every page and says so by setting
COURSE_BOOK_BUILD=1 for its kernels. Anywhere else (JupyterLab, VS Code, Colab) the
output carries both itself.
"""

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import torch
from torch import Tensor

__all__ = ["AttentionExplorer", "Sentence", "attention_explorer"]

STATIC = Path(__file__).resolve().parent.parent / "_static"
MAX_BYTES = 100_000


@dataclass(frozen=True, eq=False)
class Sentence:
    """The tokens of one sentence and what one attention head made of them.

    Args:
        tokens: seq strings, one for each position.
        queries: (seq, d_k).
        keys: (seq, d_k).
        values: (seq, d_v); 2 to 4 dimensions can still be read.
        focus: position of the query that is selected at first; -1 is the last.

    Raises:
        ValueError: if the shapes do not fit each other, a number is not finite,
            or focus is not a position.
    """

    tokens: Sequence[str]
    queries: Tensor
    keys: Tensor
    values: Tensor
    focus: int = -1

    def __post_init__(self) -> None:
        seq_len = len(self.tokens)
        if isinstance(self.tokens, str) or seq_len == 0:
            raise ValueError(
                f"tokens is {self.tokens!r}; expected a list with one string for each "
                "position. Split the sentence first: 'river bank'.split()."
            )
        for name in ("queries", "keys", "values"):
            _check_matrix(name, getattr(self, name), seq_len)
        if self.queries.shape != self.keys.shape:
            raise ValueError(
                f"queries are {tuple(self.queries.shape)} and keys "
                f"{tuple(self.keys.shape)}; expected both (seq, d_k). "
                "Project both to the same d_k."
            )
        if not -seq_len <= self.focus < seq_len:
            raise ValueError(
                f"focus is {self.focus}; expected a position from 0 to {seq_len - 1}, "
                "or a negative one counted from the end."
            )


@dataclass(frozen=True, eq=False)
class AttentionExplorer:
    """What a notebook cell shows: the element, its numbers and a plain table inside."""

    sentences: tuple[Sentence, ...]
    caption: str
    scaled: bool
    causal: bool

    def __repr__(self) -> str:
        return f"<attention explorer: {self.caption}>"

    def _repr_html_(self) -> str:
        element = (
            f'<attention-explorer data="{escape(self._json())}">'
            f"{_plain_tables(self)}</attention-explorer>"
        )
        if os.environ.get("COURSE_BOOK_BUILD") == "1":
            return element
        style = (STATIC / "css" / "attention-explorer.css").read_text("utf-8")
        script = (STATIC / "js" / "attention-explorer.js").read_text("utf-8")
        return f"<style>{style}</style><script>{script}</script>{element}"

    def _json(self) -> str:
        data = {
            "caption": self.caption,
            "scaled": self.scaled,
            "causal": self.causal,
            "sentences": [_numbers(sentence) for sentence in self.sentences],
        }
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def attention_explorer(
    sentences: Sequence[Sentence],
    caption: str,
    *,
    scaled: bool = True,
    causal: bool = False,
) -> AttentionExplorer:
    """Show who looks at whom, and how one output is summed, for the reader to change.

    Args:
        sentences: one, or several to switch between.
        caption: plain text below the element.
        scaled: whether the scores are divided by sqrt(d_k) at first.
        causal: whether the causal mask is on at first.

    Raises:
        ValueError: if there is no sentence, or more numbers than a page should carry.
    """
    if not sentences:
        raise ValueError("sentences is empty; expected at least one Sentence.")
    explorer = AttentionExplorer(tuple(sentences), caption, scaled, causal)
    size = len(explorer._json().encode())
    if size > MAX_BYTES:
        raise ValueError(
            f"the data takes {size:,} bytes; expected at most {MAX_BYTES:,}. "
            "Show fewer or shorter sentences."
        )
    return explorer


def _check_matrix(name: str, tensor: Tensor, seq_len: int) -> None:
    shape = tuple(tensor.shape)
    if len(shape) != 2 or shape[0] != seq_len or shape[1] == 0:
        raise ValueError(
            f"{name} has shape {shape}; expected ({seq_len}, features): one row for "
            f"each of the {seq_len} tokens. Choose one sentence and one head first."
        )
    if not torch.isfinite(tensor).all():
        raise ValueError(
            f"{name} holds NaN or infinity; expected finite numbers. "
            "Pass them before any mask is applied."
        )


def _products(sentence: Sentence) -> Tensor:
    queries, keys = (
        t.detach().cpu().double() for t in (sentence.queries, sentence.keys)
    )
    return queries @ keys.T  # (seq, d_k) @ (d_k, seq) -> (seq, seq)


def _numbers(sentence: Sentence) -> dict:
    return {
        "tokens": list(sentence.tokens),
        "focus": sentence.focus % len(sentence.tokens),
        "d_k": sentence.keys.shape[1],
        "products": _rounded(_products(sentence)),
        "values": _rounded(sentence.values.detach()),
    }


def _rounded(matrix: Tensor) -> list[list[float]]:
    return [[float(f"{number:.6g}") for number in row] for row in matrix.tolist()]


def _plain_tables(explorer: AttentionExplorer) -> str:
    tables = (_plain_table(s, explorer) for s in explorer.sentences)
    return "".join(tables)


def _plain_table(sentence: Sentence, explorer: AttentionExplorer) -> str:
    scores = _products(sentence)
    if explorer.scaled:
        scores = scores / math.sqrt(sentence.keys.shape[1])
    if explorer.causal:
        later = torch.ones_like(scores).triu(diagonal=1).bool()
        scores = scores.masked_fill(later, -torch.inf)
    weight_rows = scores.softmax(dim=-1).tolist()
    heads = "".join(
        f'<th scope="col">{escape(token)}</th>' for token in sentence.tokens
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(token)}</th>'
        + "".join(f"<td>{weight:.2f}</td>" for weight in weights)
        + "</tr>"
        for token, weights in zip(sentence.tokens, weight_rows, strict=True)
    )
    return (
        f"<table><caption>{escape(explorer.caption)}</caption>"
        f"<thead><tr><td></td>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )
