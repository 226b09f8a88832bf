"""Refuse a release that would give away a solution or a hidden test.

The check compares every text of a released notebook (sources, metadata, outputs,
attachments) with what the instructor's notebook hides, and looks for markers that
nbgrader would not recognise. It runs inside nbgrader, so that the stock
``nbgrader generate_assignment`` refuses too.
"""

import ast
import difflib
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import List, Unicode

from autograder.errors import CourseError

MARKERS = (
    "BEGIN SOLUTION",
    "END SOLUTION",
    "BEGIN HIDDEN TESTS",
    "END HIDDEN TESTS",
    "BEGIN MARK SCHEME",
    "END MARK SCHEME",
)
STUB = {"raise NotImplementedError()", "raise NotImplementedError", "pass", "..."}
TWINS = {".py", ".md", ".rmd", ".qmd", ".r", ".jl"}


class RefuseLeaks(NbGraderPreprocessor):
    """The last preprocessor of ``GenerateAssignment``: passes a notebook or refuses."""

    allowed = List(
        Unicode(),
        default_value=[
            "*.ipynb",
            "requirements.txt",
            "*.csv",
            "*.json",
            "*.npz",
            "*.png",
            "*.jpg",
            "*.svg",
            "*.safetensors",
        ],
        help="Files that may lie in a released folder, as patterns.",
    ).tag(config=True)

    def preprocess(self, nb, resources):
        """Pass the notebook on unchanged, or raise CourseError listing every leak."""
        folder = Path(resources["metadata"]["path"])
        source_path = folder / f"{resources['metadata']['name']}.ipynb"
        source = nbformat.read(source_path, as_version=4)
        secrets = secrets_of(source)
        found = [*bad_files(folder, self.allowed), *bad_markers(source)]
        found += find_leaks(nb, secrets, pieces_of(source))
        for other in sorted(folder.rglob("*")):
            if other.is_file() and other.suffix not in {".ipynb", ".png", ".jpg"}:
                found += leaks_in_file(other, secrets)
        if found:
            raise CourseError(
                f"{source_path.name} is not released, it would leak:\n"
                + "\n".join(f"  - {leak}" for leak in found)
            )
        return nb, resources


# --- what is secret -----------------------------------------------------------------


def secrets_of(source: nbformat.NotebookNode) -> list[list[str]]:
    """List what the instructor's notebook hides: the lines of each hidden region."""
    found = []
    for cell in source.cells:
        regions = [*_regions(cell.source, "SOLUTION")]
        hidden = _hidden_only(cell.source)
        schemes = [*_regions(cell.source, "MARK SCHEME")]
        about = cell.metadata.get("nbgrader", {})
        if about.get("solution") and not regions and not about.get("task"):
            regions = [cell.source.split("\n")]
        found += regions + hidden + schemes
    return [lines for lines in map(_telling, found) if lines]


def pieces_of(source: nbformat.NotebookNode) -> set[str]:
    """Name the functions and classes that the solution cells define."""
    cells = [c for c in source.cells if c.metadata.get("nbgrader", {}).get("solution")]
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    return set(re.findall(r"^(?:def|class) (\w+)", code, re.MULTILINE))


def _regions(text: str, kind: str) -> Iterator[list[str]]:
    """Give the lines of every region of one kind, also of one that is never closed."""
    region = None
    for line in text.split("\n"):
        if f"BEGIN {kind}" in line:
            region = []
        elif f"END {kind}" in line and region is not None:
            yield region
            region = None
        elif region is not None:
            region.append(line)
    if region:
        yield region


def _hidden_only(text: str) -> list[list[str]]:
    """Give the regions of hidden tests, less the lines that the visible part shows."""
    regions = [*_regions(text, "HIDDEN TESTS")]
    hidden = [line for region in regions for line in region]
    visible = Counter(text.split("\n")) - Counter(hidden)
    return [[line for line in region if not visible[line]] for region in regions]


def _telling(lines: list[str]) -> list[str]:
    """Keep the lines that would tell something, without their spacing."""
    kept = dict.fromkeys(_bare(line) for line in lines)
    return [line for line in kept if len(line) >= 12 and not line.startswith("#")]


def _bare(text: str) -> str:
    return re.sub(r"\s+", "", text).replace("'", '"')


# --- where it hides -----------------------------------------------------------------


def find_leaks(
    nb: nbformat.NotebookNode, secrets: list[list[str]], pieces: set[str]
) -> list[str]:
    """Say where a notebook that is about to be released gives something away.

    ``secrets`` are hidden lines, ``pieces`` the names that a learner is to define.
    """
    found = []
    for number, cell in enumerate(nb.cells, 1):
        name = cell.metadata.get("nbgrader", {}).get("grade_id") or cell.get("id", "")
        where = f"cell {number} ({name})"
        found += [f"{where}: {text}" for text in _leaks_of_cell(cell, secrets)]
        found += [f"{where}: {text}" for text in _solved(cell, pieces)]
    meta = json.dumps(nb.metadata, ensure_ascii=False)
    found += [f"notebook metadata: {text}" for text in leaks_in(meta, secrets)]
    return found


def _leaks_of_cell(cell, secrets) -> Iterator[str]:
    places = {
        "source": cell.source,
        "metadata": "\n".join(_strings(dict(cell.metadata))),
        "outputs": "\n".join(_strings(list(cell.get("outputs", [])))),
        "attachments": "\n".join(_strings(dict(cell.get("attachments", {})))),
    }
    for place, text in places.items():
        yield from (f"{place}: {leak}" for leak in leaks_in(text, secrets))


def leaks_in(text: str, secrets: list[list[str]]) -> Iterator[str]:
    """Say which secret or marker a text holds.

    A region leaks when half of its telling lines, or two of them, stand in the text.
    """
    for line in text.split("\n"):
        if marker := _marker_like(line):
            yield f"a marker ({marker}) is left: {line.strip()[:60]}"
    bare = _bare(text)
    for lines in secrets:
        held = [line for line in lines if line in bare]
        if held and (len(held) >= 2 or 2 * len(held) >= len(lines)):
            yield f"holds hidden lines, among them {held[0][:50]!r}"


def leaks_in_file(path: Path, secrets: list[list[str]]) -> Iterator[str]:
    """Say which secret or marker a file beside the notebook holds."""
    text = path.read_bytes().decode("utf-8", errors="replace")
    yield from (f"{path.name}: {leak}" for leak in leaks_in(text, secrets))


def bad_files(folder: Path, allowed: list[str]) -> Iterator[str]:
    """Name files that must not be released: unknown kinds, and twins of a notebook."""
    stems = {path.stem for path in folder.rglob("*.ipynb")}
    for path in sorted(folder.rglob("*")):
        if path.is_dir() or ".ipynb_checkpoints" in path.parts:
            continue
        name = path.relative_to(folder)
        if path.is_symlink():
            yield f"{name}: is a link; copy the file itself"
        elif path.suffix.lower() in TWINS and path.stem in stems:
            yield f"{name}: a twin of the notebook holds its solutions; move it away"
        elif not any(path.match(pattern) for pattern in allowed):
            yield f"{name}: not on the list of allowed files (c.RefuseLeaks.allowed)"


def bad_markers(source: nbformat.NotebookNode) -> Iterator[str]:
    """Name markers that nbgrader would not recognise, or that are not closed."""
    for number, cell in enumerate(source.cells, 1):
        where = f"cell {number}"
        lines = cell.source.split("\n")
        for line in lines:
            marker = _marker_like(line)
            if marker and marker not in line:
                yield f"{where}: misspelt marker {line.strip()!r}, expected {marker!r}"
        for kind in ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME"):
            begins = sum(f"BEGIN {kind}" in line for line in lines)
            ends = sum(f"END {kind}" in line for line in lines)
            if begins != ends:
                yield f"{where}: {begins} BEGIN {kind} and {ends} END {kind}"


def _marker_like(line: str) -> str:
    """Give the marker that a comment line is or nearly is, or an empty string."""
    match = re.fullmatch(r"\s*(?:#+|//+|%+|<!--+)\s*([\w \-]{8,24}?)\W*", line)
    if not match:
        return ""
    words = re.sub(r"[\W_]+", " ", match[1]).upper().strip()
    close = difflib.get_close_matches(words, MARKERS, n=1, cutoff=0.82)
    return close[0] if close and words.split()[0][:1] in "BEST" else ""


def _strings(value) -> Iterator[str]:
    """Walk a JSON value and give every string in it, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _solved(cell, pieces: set[str]) -> Iterator[str]:
    """Name pieces that a code cell defines with a body of its own."""
    if cell.cell_type != "code":
        return
    try:
        tree = ast.parse(cell.source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in pieces:
            methods = [n for n in ast.walk(node) if isinstance(n, ast.FunctionDef)]
            if any(not _is_stub(method) for method in methods):
                yield f"source: defines {node.name} with a body"


def _is_stub(function: ast.FunctionDef) -> bool:
    body = [ast.unparse(statement) for statement in function.body]
    return set(body[1:] if ast.get_docstring(function) else body) <= STUB
