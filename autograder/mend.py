"""Make of what was handed in what the grader can grade, and note every change.

Nothing in a submission decides how it is graded: the cells of the assignment come
from the instructor, in the instructor's order, and only the answers are taken over.
"""

import ast
import difflib
import json
import os
import re
import stat
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import find_all_files, parse_utc

from autograder.errors import CourseError, MachineFault
from autograder.notebooks import as_json
from autograder.texts import first_line, writable

NOTEBOOK_BYTES = 100_000_000
FILE_BYTES, FILES = 50_000_000, 500
SUBMISSION_BYTES = 200_000_000
EXTRAS = 500  # cells of a learner's own that run
TIME_BYTES = 200  # of a time that somebody may have written
PICTURES = {"image/png", "image/jpeg", "image/gif"}


@dataclass
class Mended:
    """A notebook that can be graded, and what had to be done for it."""

    notebook: nbformat.NotebookNode
    notes: list[str] = field(default_factory=list)


# --- cells ----------------------------------------------------------------------------


def mend(handed_in, released) -> Mended:
    """Put the answers of a notebook into the released one.

    Cells are matched by grade id, else by cell id, else by content. Raises
    CourseError when an answer cannot be told from another.
    """
    notes: list[str] = []
    own = {_name(cell): cell for cell in released.cells if _name(cell)}
    matched = _match(handed_in.cells, released.cells, own, notes)
    answers, extras = _sort_out(handed_in.cells, matched, own, notes)
    pictures = _pictures(handed_in.cells, matched, answers)
    cells = list(extras[None])
    for cell in released.cells:
        made = _copy(cell)
        name = _name(cell)
        if name in answers:
            made.source = answers[name]
        elif name:
            notes.append(f"cell restored: {name} was missing")
        if name in pictures:
            made.attachments = pictures[name]
        cells.append(made)
        cells += extras[name] if name else []
    _unique_ids(cells)
    result = nbformat.v4.new_notebook(cells=cells, metadata=released.metadata)
    return Mended(result, list(dict.fromkeys(notes)))


def _match(cells, released, own: dict, notes: list[str]) -> dict[int, str]:
    """Say which cell handed in belongs to which of the assignment, by position."""
    matched: dict[int, str] = {}
    by_id, by_content = [], []
    for place, cell in enumerate(cells):
        name = _about(cell).get("grade_id")
        if name in own:
            matched[place] = name
        elif cell.get("id") in own:
            matched[place] = cell["id"]
            by_id.append(cell["id"])
    for name in own:
        if name not in matched.values():
            place = _alike(name, released, cells, matched)
            if place is not None:
                matched[place] = name
                by_content.append(name)
    if by_id:
        notes.append(f"matched by cell id, their metadata was gone: {_list(by_id)}")
    if by_content:
        notes.append(
            f"matched by content, their metadata was gone: {_list(by_content)}"
        )
    return matched


def _alike(name: str, released, cells, matched: dict[int, str]) -> int | None:
    """Find the one unmatched cell that holds what the assignment's cell asks for."""
    place = next(i for i, cell in enumerate(released) if _name(cell) == name)
    cell = released[place]
    free = [(i, c) for i, c in enumerate(cells) if i not in matched]
    same = [i for i, c in free if _bare(c.source) == _bare(cell.source)]
    if same or not _about(cell).get("solution"):
        return same[0] if same else None
    if cell.cell_type == "markdown":
        return _written(place, released, cells, free)
    wanted = _defined(cell.source) or {name}
    found = [
        i for i, c in free if c.cell_type == "code" and wanted & _defined(c.source)
    ]
    if len({_bare(cells[i].source) for i in found}) > 1:
        raise CourseError(
            f"{name}: {len(found)} cells could be the answer (cells "
            f"{', '.join(str(i + 1) for i in found)}), and their metadata is gone. "
            "Expected one. Keep one and grade again."
        )
    return found[0] if found else None


def _written(place: int, released, cells, free) -> int | None:
    """Find a written answer: the text after its question, or the only one there is."""
    texts = {_bare(cell.source) for cell in released if cell.cell_type == "markdown"}
    own = [
        i for i, c in free if c.cell_type == "markdown" and _bare(c.source) not in texts
    ]
    question = _bare(released[place - 1].source) if place else ""
    after = [i for i in own if i and _bare(cells[i - 1].source) == question]
    if after:
        return after[0]
    return own[0] if len(own) == 1 else None


def _sort_out(cells, matched, own, notes):
    """Collect the answers by name, and extra cells by what they follow."""
    answers: dict[str, str] = {}
    extras = defaultdict(list)
    after = None
    for place, cell in enumerate(cells):
        name = matched.get(place)
        if name is None:
            if cell.cell_type == "code" and cell.source.strip():
                extras[after].append(new_code_cell(cell.source))
            continue  # plain text is the instructor's, or plays no part
        after = name
        if not _about(own[name]).get("solution"):
            if name in answers:
                notes.append(f"{name} was there twice: it counts once")
            answers.setdefault(name, own[name].source)
        elif name not in answers:
            answers[name] = cell.source
        elif _bare(own[name].source) in (_bare(cell.source), _bare(answers[name])):
            notes.append(f"{name} was there twice: the untouched one was left out")
            if _bare(cell.source) != _bare(own[name].source):
                answers[name] = cell.source
        else:
            notes.append(f"{name} was there twice: both ran, in their order")
            extras[name].append(new_code_cell(cell.source))
    left = EXTRAS
    for name, found in extras.items():
        extras[name], left = found[: max(0, left)], left - len(found)
    if left < 0:
        notes.append(f"{-left} more cells than the {EXTRAS} that run: ignored")
    return answers, extras


def _pictures(cells, matched: dict[int, str], answers: dict[str, str]) -> dict:
    """Collect the pictures that were pasted into written answers, by grade id."""
    found = {}
    for place, name in matched.items():
        cell = cells[place]
        if cell.cell_type == "markdown" and answers.get(name) == cell.source:
            for file, kinds in _dict(cell.get("attachments")).items():
                pasted = _dict(kinds).items()
                kept = {k: v for k, v in pasted if k in PICTURES and isinstance(v, str)}
                if kept:
                    found.setdefault(name, {})[file] = kept
    return found


def _dict(value) -> dict:
    return value if isinstance(value, dict) else {}


def _copy(cell):
    kept = nbformat.from_dict(json.loads(json.dumps(cell)))
    if kept.cell_type == "code":
        kept.outputs, kept.execution_count = [], None
    return kept


def _name(cell) -> str:
    return _about(cell).get("grade_id", "")


def _about(cell) -> dict:
    about = cell.metadata.get("nbgrader", {})
    named = isinstance(about, dict) and isinstance(about.get("grade_id"), str)
    return about if named else {}


def _bare(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _defined(source: str) -> set[str]:
    """Name what a cell defines at its top level; also if the cell does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set(re.findall(r"^(?:def|class)\s+(\w+)", source, re.MULTILINE))
    names = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = getattr(node, "targets", None) or [node.target]
            found = [n for target in targets for n in ast.walk(target)]
            names |= {n.id for n in found if isinstance(n, ast.Name)}
    return names


def _unique_ids(cells) -> None:
    seen: set[str] = set()
    for number, cell in enumerate(cells):
        if not cell.get("id") or cell["id"] in seen:
            cell["id"] = f"extra-{number}"
        seen.add(cell["id"])


def _list(names: list[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if names[6:] else "")


class Mend(NbGraderPreprocessor):
    """Mend what nbgrader itself takes from ``submitted``; `course grade` has done so.

    It is the first of ``Autograde.sanitize_preprocessors``: nothing that a submission
    says of its cells reaches the others.
    """

    def preprocess(self, nb, resources):
        """Give the released notebook with the answers of the one handed in.

        Raises CourseError when it is a link or not released, or when no answer can be
        told from another.
        """
        course, about = self.parent.parent.coursedir, resources["nbgrader"]
        student, assignment, name = (
            about[key] for key in ("student", "assignment", "notebook")
        )
        place = lambda step, whose: Path(course.format_path(step, whose, assignment))
        submitted = place(course.submitted_directory, student)
        _no_links(submitted / f"{name}.ipynb", submitted, submitted.parent)
        model = place(course.release_directory, ".") / f"{name}.ipynb"
        if not model.is_file():
            raise CourseError(f"{name} is not released: expected {model}.")
        mended = mend(nb, nbformat.v4.reads(model.read_text("utf-8")))
        for note in mended.notes:
            self.log.warning("%s: %s", student, note)
        return mended.notebook, resources


def _no_links(*paths: Path) -> None:
    """Raise CourseError when one of these leads elsewhere."""
    for path in paths:
        if path.is_symlink():
            raise CourseError(f"{path.name} is a link. Expected what it leads to.")


def plain_files(root: Path):
    """Make a function that lists files as nbgrader does, for it to copy them.

    In all but the instructor's own folder it leaves out links and what is no file.
    """

    def find(path: str, exclude: list[str] | None = None) -> list[str]:
        found = find_all_files(path, exclude)
        if Path(path).resolve().is_relative_to(root / "source"):
            return found
        return [one for one in found if stat.S_ISREG(os.lstat(one).st_mode)]

    return find


# --- files ----------------------------------------------------------------------------


def prepare(
    folder: Path, released: dict[str, Path], target: Path, source: Path | None = None
) -> list[str]:
    """Copy a submission to ``target`` so that it can be graded; give the notes.

    ``released`` holds the student version of each notebook, by file name; what lies
    in ``source`` will be put beside them. Links, large files and files that play no
    part are left out. Raises CourseError when there is no notebook that could be meant,
    MachineFault when one that was released is gone.
    """
    _no_links(folder, folder.parent)
    notes, found = _files(folder)
    notebooks: dict[str, Path] = {}
    for path in filter(_is_notebook, found):
        if notebooks.setdefault(path.name, path) != path:
            notes.append(f"{path.relative_to(folder)} is there a second time: ignored")
    target.mkdir(parents=True, exist_ok=True)
    missing = []
    for name, model in released.items():
        path = _chosen(name, model, notebooks, released, notes)
        if path is None:
            missing.append(name)
            continue
        if not model.is_file():
            raise MachineFault(f"{model} is missing: release the assignment again.")
        mended = mend(read(path), nbformat.v4.reads(model.read_text("utf-8")))
        notes += mended.notes
        (target / name).write_text(as_json(mended.notebook), encoding="utf-8")
        notebooks = {n: p for n, p in notebooks.items() if p != path}
    if len(missing) == len(released):
        there = ", ".join(sorted(notebooks)) or "no notebook at all"
        raise CourseError(f"Expected {' and '.join(released)}; found {there}.")
    notes += [f"{name} is missing: no points for it" for name in missing]
    notes += [
        f"{name} is not part of the exercise: ignored" for name in sorted(notebooks)
    ]
    others = [p for p in found if not _is_notebook(p) and p.suffix != ".html"]
    own = {model.parent for model in released.values()} | {source} - {None}
    _copy_files(others, folder, target, own, notes)
    return notes


def _is_notebook(path: Path) -> bool:
    return path.suffix.lower() == ".ipynb"


def read(path: Path) -> nbformat.NotebookNode:
    """Read a notebook in any usual encoding and version; CourseError says why not."""
    raw = path.read_bytes()
    wide = raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or b"\0" in raw[:4]
    for encoding in ("utf-16" if wide else "utf-8-sig", "latin-1"):
        try:
            text = raw.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    try:
        notebook = nbformat.reads(text, as_version=4)
        for cell in notebook.cells:
            if not isinstance(cell.get("source", ""), str):
                raise ValueError("a cell whose source is not text")
            cell.source = writable(cell.get("source", ""))
            cell.metadata = cell.get("metadata") or nbformat.from_dict({})
        return notebook
    except Exception as error:  # nbformat raises many kinds
        reason = _odd_cell(text) or first_line(error)[:150]
        raise CourseError(f"{path.name} is not a whole notebook: {reason}") from error


def _odd_cell(text: str) -> str:
    """Say which cell is not made as one; an empty text if that is not what is wrong."""
    try:
        for place, cell in enumerate(json.loads(text)["cells"], 1):
            for name, kind in (("metadata", dict), ("cell_type", str), ("id", str)):
                if not isinstance(cell.get(name, kind()), kind):
                    return f"the {name} of cell {place} is none"
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    return ""


def _is_time(path: Path) -> bool:
    """Tell whether nbgrader can read the time of a submission."""
    with path.open("rb") as file:
        return time_in(file.read(TIME_BYTES + 1)) is not None


def time_in(stamp: bytes) -> datetime | None:
    """Read the time of a submission as nbgrader does; None if it is none."""
    if len(stamp) > TIME_BYTES:
        return None
    try:
        return parse_utc(stamp.decode("utf-8").strip()).replace(tzinfo=UTC)
    except Exception:  # whatever the parser raises, it is no time
        return None


def _files(folder: Path) -> tuple[list[str], list[Path]]:
    """List the plain files of a submission within the bounds, and note the others."""
    notes, found, left_out, total = [], [], 0, 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(n for n in folders if not n.startswith((".", "__")))
        for name in sorted(names):
            path = Path(place, name)
            about = path.lstat()
            limit = NOTEBOOK_BYTES if _is_notebook(path) else FILE_BYTES
            if not stat.S_ISREG(about.st_mode):
                notes.append(f"{writable(name)} is not a plain file: ignored")
            elif about.st_size > limit:
                notes.append(
                    f"{writable(name)} has {about.st_size / 1e6:.0f} MB: ignored"
                )
            elif not os.access(path, os.R_OK):
                notes.append(f"{writable(name)} cannot be read: ignored")
            elif len(found) >= FILES and not _is_notebook(path):
                left_out += 1
            elif total + about.st_size > SUBMISSION_BYTES and not _is_notebook(path):
                most = SUBMISSION_BYTES / 1e6
                notes.append(f"{writable(name)} goes over {most:.0f} MB: ignored")
            elif not name.startswith("."):
                found.append(path)
                total += about.st_size
    if left_out:
        notes.append(f"{left_out} files over {FILES}: ignored")
    return notes, found


def _chosen(name, model, notebooks, released, notes) -> Path | None:
    """Choose the file that is meant by a notebook's name."""
    if name in notebooks:
        return notebooks[name]
    others = {n: p for n, p in notebooks.items() if n not in released}
    fitting = [path for path in others.values() if _fits(path, model)]
    if len(fitting) > 1:
        close = [p for p in fitting if _close(p.stem, Path(name).stem)]
        fitting = close if len(close) == 1 else fitting
    if len(fitting) > 1:
        there = ", ".join(sorted(path.name for path in fitting))
        raise CourseError(f"Expected {name}; any of these could be meant: {there}.")
    if fitting:
        notes.append(f"{fitting[0].name} was taken for {name}")
    return fitting[0] if fitting else None


def _fits(path: Path, model: Path) -> bool:
    """Tell whether a file holds at least half of the assignment's cells."""
    try:
        cells = read(path).cells
    except CourseError:
        return False
    wanted = [c for c in nbformat.v4.reads(model.read_text("utf-8")).cells if _name(c)]
    marks = {_name(c) for c in cells} | {c.get("id") for c in cells}
    texts = {_bare(c.source) for c in cells}
    held = [c for c in wanted if _name(c) in marks or _bare(c.source) in texts]
    return 2 * len(held) >= len(wanted)


def _close(one: str, other: str) -> bool:
    plain = re.sub(r"[^a-z0-9]+", "", one.lower())
    return other.replace("-", "") in plain or (
        difflib.SequenceMatcher(None, one.lower(), other).ratio() > 0.8
    )


def _copy_files(
    paths: list[Path], folder: Path, target: Path, own: set[Path], notes: list[str]
) -> None:
    """Copy the other files, such as data, under their own names.

    The files in the folders ``own`` are the instructor's: they will lie there too.
    """
    for path in paths:
        if path.name == "timestamp.txt" and not _is_time(path):
            notes.append("timestamp.txt holds no time: ignored")
            continue
        name = path.relative_to(folder)
        inside = target / name
        above = [model / part for model in own for part in name.parents]
        if any(part.is_file() for part in above) or any(
            (m / name).is_dir() for m in own
        ):
            notes.append(f"{name} is in the way: ignored")
            continue
        try:
            inside.parent.mkdir(parents=True, exist_ok=True)
            inside.write_bytes(path.read_bytes())
        except OSError:  # a folder has the name of a notebook, or the other way round
            notes.append(f"{name} is in the way: ignored")
