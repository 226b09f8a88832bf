"""Run a learner's notebook from the shell, and say what each check says."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError

from autograder.errors import CourseError
from autograder.texts import first_line
from exercises.mistakes import MIME

HEADING = re.compile(r"# (check-[\w-]+) · ([\d.]+) points?")


@dataclass
class Verdict:
    """What one check of a notebook said, and the points it is worth."""

    name: str
    points: float
    passed: bool
    report: str = ""
    details: dict = field(default_factory=dict)


USE_MINE = """\
import importlib, sys
sys.path.insert(0, {parent!r})
for name in [name for name in sys.modules if name.startswith("solutions.")]:
    sys.modules[name] = importlib.import_module(name.replace("solutions", {package!r}))
"""


def check_notebook(
    path: Path, seconds: int = 120, mine: Path | None = None
) -> list[Verdict]:
    """Run a notebook in a kernel of its own, and give the verdict of every check.

    ``seconds`` bounds each cell; ``mine`` is a package of the learner's own pieces, to
    be used for the earlier chapters. The file is not changed. Raises CourseError when
    it cannot be read, holds no checks, or does not come to an end.
    """
    notebook = read_notebook(path)
    if not any(HEADING.match(cell.source) for cell in notebook.cells):
        raise CourseError(
            f"{path} holds no checks. Expected an exercise of this course, with cells "
            "that begin with “# check-… · … points”."
        )
    if mine is not None:
        _use(mine, notebook)
    client = NotebookClient(
        notebook,
        timeout=seconds,
        kernel_name="python3",
        allow_errors=True,
        extra_arguments=["--log-level=ERROR"],
        shutdown_kernel="immediate",
        resources={"metadata": {"path": str(Path(path).resolve().parent)}},
    )
    try:
        client.execute()
    except (CellTimeoutError, DeadKernelError) as error:
        raise CourseError(
            f"{path} did not come to an end: {first_line(error)}"
        ) from error
    return [*map(_verdict, filter(_is_check, notebook.cells))]


def _use(mine: Path, notebook) -> None:
    """Let a notebook take the pieces of earlier chapters from the learner's own."""
    from autograder.mine import require_mine  # which reads notebooks as this does

    folder = require_mine(mine)
    source = USE_MINE.format(parent=str(folder.parent), package=folder.name)
    first = (
        i for i, c in enumerate(notebook.cells) if "from checks import" in c.source
    )
    notebook.cells.insert(next(first, 1), nbformat.v4.new_code_cell(source))


def read_notebook(path: Path):
    """Read a notebook of any version, or raise CourseError saying why it cannot be."""
    try:
        return nbformat.read(path, as_version=4)
    except FileNotFoundError:
        raise CourseError(f"There is no file {path}.") from None
    except Exception as error:  # nbformat raises many kinds
        raise CourseError(f"{path} is not a notebook: {first_line(error)}") from error


def _is_check(cell) -> bool:
    return cell.cell_type == "code" and HEADING.match(cell.source) is not None


def _verdict(cell) -> Verdict:
    name, points = HEADING.match(cell.source).groups()
    verdict = Verdict(name, float(points), passed=True)
    for output in cell.outputs:
        if output.output_type == "display_data" and MIME in output.data:
            verdict.report = output.data["text/plain"]
            verdict.details = dict(output.data[MIME])
        elif output.output_type == "error":
            verdict.passed = False
            verdict.report = verdict.report or f"{output.ename}: {output.evalue}"
    return verdict
