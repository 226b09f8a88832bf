"""What the interactive elements share: how they reach the page, and their size."""

import json
import math
import os
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

STATIC = Path(__file__).resolve().parent.parent / "_static"
MAX_BYTES = 100_000


class Element:
    """What a notebook cell shows: an element, its numbers and a plain table inside.

    The book loads script and style itself and says so by COURSE_BOOK_BUILD=1; anywhere
    else the output carries both.
    """

    def __init__(self, name: str, data: dict, table: str):
        """Keep the data as JSON. Raises ValueError when a page should not carry it."""
        self.name, self.data, self.table = name, data, table
        self.json = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        size = len(self.json.encode())
        if size > MAX_BYTES:
            raise ValueError(
                f"the data takes {size:,} bytes; expected at most {MAX_BYTES:,}. "
                "Show fewer or shorter sentences."
            )

    def __repr__(self) -> str:
        return f"<{self.name.replace('-', ' ')}: {self.data['caption']}>"

    def _repr_html_(self) -> str:
        data = escape(self.json)
        element = f'<{self.name} data="{data}">{self.table}</{self.name}>'
        if os.environ.get("COURSE_BOOK_BUILD") == "1":
            return element
        style = (STATIC / "css" / f"{self.name}.css").read_text("utf-8")
        script = (STATIC / "js" / f"{self.name}.js").read_text("utf-8")
        return f"<style>{style}</style><script>{script}</script>{element}"


def rounded(number: float) -> float:
    """Keep six digits: more than a picture shows."""
    return float(f"{number:.6g}")


def finite(name: str, numbers: Iterable[float]) -> None:
    """Raise ValueError when one of the numbers is NaN or infinite."""
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f"{name} holds NaN or infinity; expected finite numbers.")


def plain_table(caption: str, heads: Sequence[str], rows: Iterable[Sequence]) -> str:
    """Write the table that is shown without JavaScript; a row's first cell names it."""
    head = "".join(f'<th scope="col">{escape(str(text))}</th>' for text in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(str(first))}</th>'
        + "".join(f"<td>{escape(str(cell))}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return (
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
