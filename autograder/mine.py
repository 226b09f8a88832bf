"""Mine: a learner's own pieces, as a package with the interface of ``solutions``."""

import ast
import importlib
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from autograder.check import read_notebook
from autograder.errors import CourseError
from autograder.exercise import SOLUTIONS, Exercise, all_exercises, first_line
from autograder.trial import COMMON

MARK = '"""Your own pieces, written by `course mine`; do not edit."""'


@dataclass(frozen=True)
class Piece:
    """One piece of the course, and the notebook that it was taken from, if any."""

    module: str
    name: str
    notebook: Path | None = None
    source: str = ""


def harvest(places: list[Path], folder: Path) -> list[Piece]:
    """Collect the solved pieces of some notebooks into a package, replacing an old one.

    ``places`` are notebooks, or folders of them; of two notebooks for one exercise the
    newer counts. A piece that is not solved is the reference's. Nothing is run.
    Raises CourseError when there is nothing to collect, or something else is there.
    """
    folder = Path(folder)
    if not folder.name.isidentifier() or folder.name in sys.stdlib_module_names:
        raise CourseError(
            f"{folder.name!r} cannot be the name of a package. Expected a plain word "
            "that Python does not use itself, such as: --to mine"
        )
    if folder.exists() and not is_mine(folder):
        raise CourseError(
            f"{folder} holds something else. Expected a new folder, or one that "
            "`course mine` has made."
        )
    pieces = _all_pieces(_notebooks(places))
    if not any(piece.source for piece in pieces):
        raise CourseError(
            "No solved piece was found. Expected notebooks of this course with answers "
            "in them; a cell that still raises NotImplementedError is not solved."
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        _write(Path(made), folder.name, pieces)
        if folder.exists():
            shutil.rmtree(folder)
        shutil.copytree(made, folder)
    return pieces


def is_mine(folder: Path) -> bool:
    """Tell whether a folder is a package that :func:`harvest` has written."""
    start = folder / "__init__.py"
    return start.is_file() and start.read_text(encoding="utf-8").startswith(MARK)


def require_mine(folder: Path) -> Path:
    """Give the whole path of a package made by :func:`harvest`; else CourseError."""
    folder = Path(folder).resolve()
    if not is_mine(folder):
        raise CourseError(
            f"{folder} was not made by `course mine`. Make it with: "
            "course mine NOTEBOOKS --to mine"
        )
    return folder


def load(folder: Path | None, module: str):
    """Import a module of a package of one's own, or of ``solutions`` without one.

    Without a module's name the package itself is imported.

    Raises CourseError when the folder is no such package, or does not import.
    """
    if folder is None:
        return importlib.import_module(f"solutions.{module}")
    folder = require_mine(folder)
    if str(folder.parent) not in sys.path:
        sys.path.insert(0, str(folder.parent))
    try:
        return importlib.import_module(f"{folder.name}.{module}".rstrip("."))
    except Exception as error:  # what a learner wrote may raise anything
        raise CourseError(
            f"{folder / module}.py does not import: {type(error).__name__}: {error}"
        ) from error


def own_and_borrowed(package) -> tuple[list[str], list[str]]:
    """Name the pieces of a package that are a learner's own, and the reference's."""
    own = [name for name, notebook in package.PIECES.items() if notebook]
    return own, [name for name in package.PIECES if name not in own]


# --- what is found ------------------------------------------------------------------


def _notebooks(places: list[Path]) -> list[Path]:
    """List notebooks, the oldest first. Raises CourseError for what is not there."""
    found = []
    for place in map(Path, places):
        if not place.exists():
            raise CourseError(f"There is no {place}. Expected a notebook or a folder.")
        inside = place.rglob("*.ipynb") if place.is_dir() else [place]
        found += [path for path in inside if ".ipynb_checkpoints" not in path.parts]
    return sorted(found, key=lambda path: path.stat().st_mtime)


def _all_pieces(notebooks: list[Path]) -> list[Piece]:
    """Give every piece of the course, from the newest notebook that solves it."""
    solved = {}
    exercises = all_exercises()
    for path in notebooks:
        cells = [c for c in read_notebook(path).cells if c.cell_type == "code"]
        exercise = _exercise_of(cells, exercises)
        for name in exercise.pieces if exercise else ():
            if source := _answer(cells, name):
                module = exercise.module_of(name)
                solved[module, name] = Piece(module, name, path, source)
    asked = [(e.module_of(name), name) for e in exercises for name in e.pieces]
    return [solved.get(key, Piece(*key)) for key in asked]


def _exercise_of(cells: list, exercises: list[Exercise]) -> Exercise | None:
    """Find the exercise that a notebook belongs to, by the names of its checks."""
    text = "\n".join(cell.source for cell in cells)
    checks = set(re.findall(r"^# (check-[\w-]+) · ", text, re.MULTILINE))
    best = max(exercises, key=lambda exercise: len(checks & exercise.points.keys()))
    return best if checks & best.points.keys() else None


def _answer(cells: list, name: str) -> str:
    """Give the cell that answers a piece: by its grade id, else by what it defines."""
    marked = [
        c for c in cells if c.metadata.get("nbgrader", {}).get("grade_id") == name
    ]
    for cell in marked or cells:
        if _defines(cell.source, name):
            return cell.source
    return ""


def _defines(source: str, name: str) -> bool:
    """Tell whether a cell defines a piece and does more than say it is not written."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return False
    kinds = ast.FunctionDef | ast.ClassDef
    found = [n for n in body if isinstance(n, kinds) and n.name == name]
    raises = (n for piece in found for n in ast.walk(piece) if isinstance(n, ast.Raise))
    return bool(found) and not any(
        "NotImplementedError" in ast.dump(node) for node in raises
    )


# --- what is written ----------------------------------------------------------------


def _write(folder: Path, package: str, pieces: list[Piece]) -> None:
    """Write one module for each of ``solutions``, with the learner's pieces in it."""
    for path in SOLUTIONS.glob("*.py"):
        if path.stem != "__init__":
            own = {p.name: p.source for p in pieces if p.module == path.stem}
            text = _module(path, own, package)
            (folder / path.name).write_text(text, encoding="utf-8")
    names = {
        f"{piece.module}.{piece.name}": piece.notebook and piece.notebook.name
        for piece in pieces
    }
    lines = [f"    {key!r}: {value!r}," for key, value in names.items()]
    listed = "\n".join([MARK, "", "PIECES = {", *lines, "}", ""])
    (folder / "__init__.py").write_text(listed, encoding="utf-8")


def _module(path: Path, own: dict[str, str], package: str) -> str:
    """Give the text of a module of the reference with some pieces replaced."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    tree = ast.parse(text)
    for node in reversed(tree.body):
        if own.get(getattr(node, "name", "")):
            first = first_line(node) - 1
            lines[first : node.end_lineno] = own[node.name].splitlines()
    imports = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    if any(own.values()) and imports:
        last = imports[-1].end_lineno
        lines[last:last] = ["", "# what every notebook of the course imports", *COMMON]
    text = "\n".join(lines) + "\n"
    return re.sub(r"^from solutions\.", f"from {package}.", text, flags=re.MULTILINE)
