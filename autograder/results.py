"""What the grader keeps of each submission, beside nbgrader's gradebook.

The gradebook holds the scores. A results file holds what it cannot: the properties
of each check, the mistake that was recognised, notes, and how grading ended.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

import nbformat

from autograder.exercise import BEGIN_HIDDEN
from exercises.mistakes import MIME, find_mistake

NAME_BYTES = 200  # of a student's name, in the name of a file
GRADED, NOTED, FAILED = "graded", "graded with notes", "failed"


@dataclass
class Result:
    """How the grading of one submission ended, and what its checks said."""

    student: str
    assignment: str
    digest: str
    status: str = GRADED
    why: str = ""
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    computing: float = 0.0  # CPU seconds of the answers themselves, in their jail
    cells: dict[str, dict] = field(default_factory=dict)

    @property
    def mistakes(self) -> list[dict]:
        """The recognised mistakes, each with the check that told it."""
        found = [(name, cell.get("mistake")) for name, cell in self.cells.items()]
        return [mistake | {"check": name} for name, mistake in found if mistake]


class ResultStore:
    """The results of one assignment: one JSON file for each student."""

    def __init__(self, class_root: Path, assignment: str):
        self.folder = class_root / "course" / assignment
        self.assignment = assignment

    def path(self, student: str) -> Path:
        """Say where the result of a student is kept; too long a name is cut."""
        if len(raw := os.fsencode(student)) > NAME_BYTES:
            student = student[:40] + "~" + hashlib.sha256(raw).hexdigest()[:20]
        return self.folder / "results" / f"{student}.json"

    def load(self, student: str) -> Result | None:
        """Read the result of a student; None when there is none that can be read."""
        try:
            result = Result(**read_json(self.path(student)))
        except TypeError:
            return None
        return result if isinstance(result.cells, dict) else None

    def save(self, result: Result) -> None:
        """Write a result so that it is there whole, or not at all."""
        write_whole(self.path(result.student), json.dumps(asdict(result)))

    def begin(self, student: str, about: dict) -> dict:
        """Keep what is known of a student before a regrade, until :meth:`end`.

        Gives what a run that was killed has kept, if there is such a thing.
        """
        path = self._begun(student)
        kept = read_json(path)
        if kept.keys() == about.keys() and isinstance(kept["read"], list):
            return kept
        write_whole(path, json.dumps(about))
        return about

    def end(self, student: str) -> None:
        """Forget what :meth:`begin` has kept: the result is saved."""
        self._begun(student).unlink(missing_ok=True)

    def was_killed(self, student: str) -> bool:
        """Tell whether the grading of a student has begun and not ended."""
        return self._begun(student).exists()

    def _begun(self, student: str) -> Path:
        return self.folder / "begun" / self.path(student).name

    def all(self) -> "Results":
        """Give every result, sorted by student."""
        return Results(self)

    def fingerprints(self) -> dict[str, list[dict]]:
        """Read how each known mistake fails, hidden properties included."""
        return read_json(self.folder / "fingerprints.json")


class Results:
    """The results of an assignment; each is read when its turn comes, and not kept."""

    def __init__(self, store: ResultStore):
        self.store = store
        found = (store.folder / "results").glob("*.json")
        self.students = sorted(path.stem for path in found)

    def __len__(self) -> int:
        return len(self.students)

    def __iter__(self) -> Iterator[Result]:
        return filter(None, map(self.store.load, self.students))


def read_json(path: Path) -> dict:
    """Read a dictionary that was kept; what is not there, or not whole, is empty."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_whole(path: Path, text: str) -> None:
    """Write a text file by way of a second one, so that a reader never sees half."""
    with whole_file(path) as file:
        file.write(text)


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[str]]:
    """Open a file to write; it is there, whole, once the ``with`` block has ended."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    # half characters, as of a file's name that is no text, are written as \udc..
    with beside.open(
        "w", encoding="utf-8", errors="backslashreplace", newline=""
    ) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())  # before the name changes: a power cut leaves no half
    beside.replace(path)


def on_disk(path: Path) -> None:
    """Have a file that is whole reach the disk, before anything refers to it."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def read_cells(
    notebook: Path, known: dict[str, list[dict]]
) -> tuple[dict[str, dict], float]:
    """Collect what an autograded notebook says of each of its nbgrader cells.

    Gives that, and the CPU seconds that its answers took.
    """
    nb = nbformat.v4.reads(notebook.read_text("utf-8"))  # our own: it is valid
    cells = {}
    for cell in nb.cells:
        about = cell.metadata.get("nbgrader", {})
        if about.get("grade") or about.get("solution"):
            cells[about["grade_id"]] = _cell(cell, about, known)
    return cells, float(nb.metadata.get("computing", 0.0))


def _cell(cell, about: dict, known: dict) -> dict:
    kept = {"kind": _kind(about), "points": about.get("points", 0)}
    if about.get("solution"):
        kept["source"] = cell.source
    if cell.cell_type == "code":
        kept |= _outputs(cell, solution=about.get("solution", False))
    if "properties" in kept:
        name = kept.pop("check")
        kept["mistake"] = find_mistake(kept["properties"], known.get(name, []))
        for item in kept["properties"]:
            item.pop("outcome", None)
    return kept


def _kind(about: dict) -> str:
    if about.get("solution") and about.get("grade"):
        return "written"
    return "answer" if about.get("solution") else "check"


def _outputs(cell, solution: bool) -> dict:
    """Keep the report of a check, and what may be told of an error.

    The message of an error may quote a hidden test, so that it is kept only where
    the cell has none, or where it comes from the learner's own cell.
    """
    kept = {"passed": True}
    for output in cell.outputs:
        shown = output.output_type == "display_data" and not solution
        if shown and MIME in output.data:
            report = output.data[MIME]
            kept |= {"check": report["check"], "properties": report["properties"]}
        elif output.output_type == "execute_result" and not solution:
            about = output.data.get(MIME)  # a note about partial credit
            if isinstance(about, dict) and "note" in about:
                kept["note"] = str(about["note"])
        elif output.output_type == "error":
            quotes = solution or BEGIN_HIDDEN not in cell.source
            kept["passed"] = False
            kept["error"] = output.ename
            if quotes or output.ename == "CheckFailed":
                kept["error"] += f": {output.evalue}"
    return kept
