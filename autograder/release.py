"""Turn ``exercise.md`` and the reference into nbgrader's source, and release it."""

import base64
import json
import textwrap
import zlib
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.exercise import EXERCISES, Exercise, grade_id, marked
from autograder.trial import fingerprints, imports

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
REQUIREMENTS = ("torch", "numpy", "matplotlib", "jupyterlab")

MODULES = ("exercises.mistakes", "exercises.checks")  # in the order of their imports

UNPACK = '''\
#@title The checks: run this cell once, there is nothing to change here
import base64, json, sys, types, zlib

packed = """
{packed}
"""
packed = json.loads(zlib.decompress(base64.b64decode(packed)))
for name in ("exercises", "solutions"):
    sys.modules[name] = types.ModuleType(name)
for name, source in packed["modules"]:
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(source, name, "exec"), module.__dict__)
checks = sys.modules["checks"] = module
checks.MISTAKES.update(packed["mistakes"])
'''


def source_notebook(exercise: Exercise) -> nbformat.NotebookNode:
    """Assemble the instructor's notebook; the same sources give the same bytes.

    Raises CourseError when a piece is asked for that the reference does not define.
    """
    cells = []
    for cell in exercise.written.cells:
        cells += _cells_for(cell, exercise)
    for number, cell in enumerate(cells):
        graded = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell["id"] = graded or f"cell-{number:02d}"
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return new_notebook(cells=cells, metadata=metadata)


def write_source(exercise: Exercise, folder: Path) -> Path:
    """Write the instructor's notebook and what goes with it; give its path.

    Whatever else lay in the folder is removed: it holds generated files only.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.is_file():
            old.unlink()
    path = folder / f"{exercise.notebook}.ipynb"
    nbformat.write(source_notebook(exercise), path)
    needed = "".join(f"{name}\n" for name in (*REQUIREMENTS, *exercise.packages))
    (folder / "requirements.txt").write_text(needed, encoding="utf-8")
    return path


def payload(exercise: Exercise) -> dict:
    """Collect what the notebook carries: pieces of earlier chapters, the check library
    and the fingerprints.
    """
    files = {f"solutions.{path.stem}": path for path in exercise.earlier}
    files |= {name: EXERCISES / f"{name.split('.')[1]}.py" for name in MODULES}
    return {
        "modules": [[n, path.read_text(encoding="utf-8")] for n, path in files.items()],
        "mistakes": fingerprints(exercise, hidden=False),
    }


def _cells_for(cell, exercise: Exercise) -> list:
    """Expand one cell of ``exercise.md`` to the cells of the instructor's notebook."""
    meta, name = cell.metadata, grade_id(cell)
    if "setup" in meta:
        return _setup_cells(exercise)
    if "given" in meta:
        return [_nbgrader(new_code_cell(exercise.given[name]), name, locked=True)]
    if "asks" in meta:
        source = marked(exercise.pieces[meta["asks"]])
        return [_nbgrader(new_code_cell(source), name, solution=True)]
    if "answer" in meta:
        return [_nbgrader(new_code_cell(cell.source), name, solution=True)]
    if "check" in meta:
        points = meta["points"]
        source = f"# {name} · {points} points\n{cell.source}"
        return [_nbgrader(new_code_cell(source), name, points=points)]
    if "written" in meta:
        written = new_markdown_cell(cell.source)
        return [_nbgrader(written, name, solution=True, points=meta["points"])]
    if cell.cell_type == "markdown":
        return [new_markdown_cell(cell.source)]
    raise ValueError(f"{exercise.name}: a code cell has no role:\n{cell.source}")


def _setup_cells(exercise: Exercise) -> list:
    """Make the two cells that load PyTorch, the checks and the fingerprints."""
    packed = json.dumps(payload(exercise), sort_keys=True, ensure_ascii=False)
    packed = base64.b64encode(zlib.compress(packed.encode(), 9)).decode()
    unpack = new_code_cell(UNPACK.format(packed="\n".join(textwrap.wrap(packed, 88))))
    unpack.metadata |= {"jupyter": {"source_hidden": True}, "cellView": "form"}
    unpack = _nbgrader(unpack, "set-up-checks", locked=True)
    return [unpack, _nbgrader(new_code_cell(imports(exercise)), "set-up", locked=True)]


def _nbgrader(cell, name: str, *, solution=False, points=None, locked=False):
    """Give a cell the metadata that nbgrader keeps it by."""
    graded = points is not None
    cell.metadata["nbgrader"] = {
        "grade": graded,
        "grade_id": name,
        "locked": locked or (graded and not solution),
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    if graded:
        cell.metadata["nbgrader"]["points"] = points
    return cell
