"""Broken submissions, graded in one batch between two good ones.

Each comes out with the marks of its answers and a note, or is refused with a reason.
`course cases` prints the table; `test_mend.py` tries the same kinds piece by piece.
"""

import copy
import json
import os

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from test_attacks import (
    FULL,
    POINTS,
    RIGHT,
    answered,
    asked_for,
    graded_class,
    hand_in,
    lost,
    new_class,
)


def named(notebook, name):
    """Find a cell by its grade id; give its place and the cell."""
    for place, cell in enumerate(notebook.cells):
        if cell.metadata.get("nbgrader", {}).get("grade_id") == name:
            return place, cell
    raise KeyError(name)


def twice(notebook, folder):
    place, cell = named(notebook, "test-square")
    pasted = copy.deepcopy(cell)
    pasted["id"] = "pasted"
    notebook.cells.insert(place + 1, pasted)


def without(*names):
    def change(notebook, folder):
        for name in names:
            notebook.cells.remove(named(notebook, name)[1])

    return change


def stripped(notebook, folder):
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})


def stripped_and_new_ids(notebook, folder):
    stripped(notebook, folder)
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"new-{number}"
    notebook.cells.insert(2, new_code_cell("print('my own cell')"))


def ambiguous(notebook, folder):
    stripped_and_new_ids(notebook, folder)
    notebook.cells.insert(1, new_code_cell("def square(x):\n    return x + x"))


def renamed(notebook, folder):
    (folder / "hw1.ipynb").rename(folder / "HW1 (1).ipynb")
    return "HW1 (1).ipynb"


def beside_untitled(notebook, folder):
    nbformat.write(new_notebook(), folder / "Untitled.ipynb")


def two_that_fit(notebook, folder):
    (folder / "hw1.ipynb").unlink()
    nbformat.write(notebook, folder / "first.ipynb")
    return "second.ipynb"


def cluttered(notebook, folder):
    (folder / "hw1.html").write_text("mine")
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "hw1-checkpoint.ipynb").write_text("{}")
    (folder / "many").mkdir()
    for number in range(5000):
        (folder / "many" / f"{number}.txt").touch()
    with (folder / "sparse.bin").open("wb") as file:
        file.truncate(3_000_000_000)


def reordered(notebook, folder):
    notebook.cells.reverse()


def edited_tests(notebook, folder):
    for name in POINTS:
        cell = named(notebook, name)[1]
        cell.source = str(POINTS[name])
        cell.metadata["nbgrader"]["points"] = 1000
        cell.metadata["tags"] = ["skip-execution"]


def linked(notebook, folder):
    (folder / "hw1.ipynb").unlink()
    (folder / "hw1.ipynb").symlink_to("/etc/passwd")
    return ""


def saved(encoding="utf-8", cut=None):
    """Write the notebook's file in an encoding, or only its beginning."""

    def change(notebook, folder):
        named(notebook, "square")[1].source += "  # é"
        text = json.dumps(notebook, ensure_ascii=False)
        (folder / "hw1.ipynb").write_bytes(text.encode(encoding)[:cut])
        return ""

    return change


def page(notebook, folder):
    (folder / "hw1.ipynb").write_text("<html>sign in</html>")
    return ""


def odd_names(notebook, folder):
    (folder / os.fsdecode(b"extra\xff.ipynb")).write_text("{}")
    (folder / "timestamp.txt").write_text("1" * 40_000_000)
    (folder / "hw1.ipynb.d").mkdir()


def in_the_way(notebook, folder):
    (folder / "hw1.ipynb").unlink()
    (folder / "hw1.ipynb").mkdir()
    nbformat.write(notebook, folder / "hw1.ipynb" / "hw1.ipynb")
    (folder / "hw1.ipynb" / "data.txt").write_text("1")
    return ""


def in_capitals(notebook, folder):
    (folder / "hw1.ipynb").unlink()
    return "HW1.IPYNB"


def odd_metadata(notebook, folder):
    text = json.dumps(notebook)
    made = json.loads(text)
    made["cells"][0]["metadata"] = [1]
    (folder / "hw1.ipynb").write_text(json.dumps(made))
    return ""


def other_definitions(notebook, folder):
    named(notebook, "square")[1].source = "square: object = lambda x: x * x"
    named(notebook, "double")[1].source = "double, _ = (lambda x: 2 * x), 0"
    stripped_and_new_ids(notebook, folder)


#: id: (what is handed in, how it is made, marks or None if refused, what it is told)
CASES = {
    "S-first": ("a good notebook, sorted first", None, FULL, ""),
    "S1": ("a test cell pasted once more", twice, FULL, "test-square was there twice"),
    "S2-one": ("a partial-credit test deleted, after a read-only cell",
        without("test-partial"), FULL, "cell restored: test-partial"),
    "S2-all": ("every test deleted", without(*POINTS), FULL,
        "cell restored: test-square"),
    "S2-answer": ("an answer deleted", without("double"), lost("test-double"),
        "cell restored: double"),
    "S3-ids": ("all metadata stripped", stripped, FULL,
        "their metadata was gone"),
    "S3-content": ("metadata and ids gone, one cell more", stripped_and_new_ids, FULL,
        "matched by content"),
    "S3-unsure": ("the same, and two cells that could be an answer", ambiguous, None,
        "2 cells could be the answer"),
    "S4-renamed": ("the notebook renamed", renamed, FULL, "was taken for hw1.ipynb"),
    "S4-beside": ("Untitled.ipynb beside it", beside_untitled, FULL, "ignored"),
    "S4-unsure": ("two notebooks that could be meant", two_that_fit, None,
        "any of these could be meant"),
    "S8": ("own page, checkpoints, 5,000 files, a sparse file of 3 GB", cluttered, FULL,
        "sparse.bin has 3000 MB: ignored"),
    "M-reordered": ("all cells in reverse order", reordered, FULL, ""),
    "M-edited": ("tests replaced by their points", edited_tests, FULL, ""),
    "M-empty": ("an empty file", saved(cut=0), None, "not a whole notebook"),
    "M-cut": ("a file cut in the middle", saved(cut=2000), None,
        "not a whole notebook"),
    "M-page": ("a web page under the notebook's name", page, None,
        "not a whole notebook"),
    "M-utf-16": ("saved as UTF-16", saved("utf-16"), FULL, ""),
    "M-names": ("a file name that is no text, a time of 40 MB", odd_names, FULL,
        "timestamp.txt holds no time"),
    "M-folder": ("the notebook in a folder of its name", in_the_way, FULL,
        "is in the way"),
    "M-capitals": ("HW1.IPYNB", in_capitals, FULL,
        "was taken for hw1.ipynb"),
    "M-metadata": ("metadata that is a list", odd_metadata, None,
        "not a whole notebook: the metadata of cell 1"),
    "M-defined": ("metadata gone, answers defined in other ways", other_definitions,
        FULL, "matched by content"),
    "M-link": ("a link to a file of the teacher's machine", linked, None,
        "found no notebook at all"),
    "S-last": ("a good notebook, sorted last", None, FULL, ""),
}  # fmt: skip


def case(name):
    """Make a row of the table that `course cases` prints."""
    handed_in, _, marks, note = CASES[name]
    right = "refused" if marks is None else f"{sum(marks.values())} of 12 points"
    right += f", told “{note}”" if note else ""
    return pytest.param(name, id=name, marks=pytest.mark.case(name, handed_in, right))


@pytest.fixture(scope="module")
def graded(tmp_path_factory, request):
    """Grade all cases in one batch; give the class, the rows and the results."""
    room, released = new_class(tmp_path_factory.mktemp("malformed"))
    for name in asked_for(request, CASES):
        change = CASES[name][1]
        notebook = answered(released, RIGHT)
        folder = hand_in(room, student_of(name), notebook)
        if change:
            file = change(notebook, folder)
            if file != "":
                nbformat.write(notebook, folder / (file or "hw1.ipynb"))
    return graded_class(room)


def student_of(name):
    return f"m{list(CASES).index(name):02d}"


@pytest.mark.parametrize("name", map(case, CASES))
def test_marks(graded, name):
    _, rows, results = graded
    _, _, marks, note = CASES[name]
    result = results[student_of(name)]
    told = " ".join([result.why, *result.notes])
    assert note in told
    if marks is None:
        assert result.status == "failed"
    else:
        assert result.status == ("graded with notes" if note else "graded"), told
        found = rows[student_of(name)]
        assert {test: found[test] for test in POINTS} == marks
    for good in ("S-first", "S-last"):
        assert float(rows[student_of(good)]["score"]) == sum(FULL.values())
