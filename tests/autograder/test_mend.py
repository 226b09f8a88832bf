"""Broken submissions of every kind, made whole or refused with a reason."""

import copy
import json

import nbformat
import pytest

from autograder.demo import fill_in, right_answers
from autograder.errors import CourseError, MachineFault
from autograder.exercise import find_exercise
from autograder.mend import mend, prepare
from autograder.project import student_notebook

EXERCISE = find_exercise("01-self-attention")
RIGHT = right_answers(EXERCISE)


@pytest.fixture(scope="module")
def released():
    return nbformat.read(student_notebook(EXERCISE), 4)


@pytest.fixture
def handed_in(released):
    return fill_in(released, RIGHT, "My own words.")


def answers(notebook):
    """The answers that a mended notebook holds, by name."""
    cells = [
        c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("solution")
    ]
    return {cell.metadata["nbgrader"]["grade_id"]: cell.source for cell in cells}


def is_whole(mended, released):
    """Every cell of the assignment is there once, in order, and holds its answer."""
    names = [
        n for c in mended.cells if (n := c.metadata.get("nbgrader", {}).get("grade_id"))
    ]
    wanted = [
        n
        for c in released.cells
        if (n := c.metadata.get("nbgrader", {}).get("grade_id"))
    ]
    assert names == wanted
    ids = [cell["id"] for cell in mended.cells]
    assert len(ids) == len(set(ids))
    assert answers(mended) == RIGHT | {"in-your-own-words": "My own words."}
    nbformat.validate(mended)


def place_of(notebook, name):
    return next(i for i, c in enumerate(notebook.cells) if c.get("id") == name)


def test_a_whole_notebook_needs_no_note(handed_in, released):
    mended = mend(handed_in, released)
    is_whole(mended.notebook, released)
    assert mended.notes == []


def test_a_test_cell_pasted_twice_counts_once(handed_in, released):
    place = place_of(handed_in, "check-softmax")
    handed_in.cells.append(copy.deepcopy(handed_in.cells[place]))
    mended = mend(handed_in, released)
    is_whole(mended.notebook, released)
    assert mended.notes == ["check-softmax was there twice: it counts once"]


def test_an_answer_copied_before_editing_keeps_the_edited_one(handed_in, released):
    stub = released.cells[place_of(released, "softmax")]
    handed_in.cells.append(copy.deepcopy(stub))
    mended = mend(handed_in, released)
    is_whole(mended.notebook, released)
    handed_in.cells.insert(0, handed_in.cells.pop())
    is_whole(mend(handed_in, released).notebook, released)


def test_an_untouched_copy_behind_the_answer_plays_no_part(handed_in, released):
    stub = copy.deepcopy(released.cells[place_of(released, "softmax")])
    handed_in.cells.insert(place_of(handed_in, "softmax") + 1, stub)
    mended = mend(handed_in, released)
    is_whole(mended.notebook, released)
    assert mended.notes == ["softmax was there twice: the untouched one was left out"]


def test_cells_of_ones_own_run_up_to_a_bound(handed_in, released):
    handed_in.cells += [nbformat.v4.new_code_cell(f"x = {n}") for n in range(510)]
    mended = mend(handed_in, released)
    assert mended.notes == ["10 more cells than the 500 that run: ignored"]
    assert len(mended.notebook.cells) == len(released.cells) + 500


def test_deleted_cells_come_back_in_their_place(handed_in, released):
    gone = ("check-project", "set-up", "check-shuffle")
    handed_in.cells = [c for c in handed_in.cells if c.get("id") not in gone]
    mended = mend(handed_in, released)
    is_whole(mended.notebook, released)
    assert len(mended.notes) == 3 and "cell restored" in mended.notes[0]


def test_an_edited_test_is_replaced(handed_in, released):
    place = place_of(handed_in, "check-softmax")
    handed_in.cells[place].source = "pass"
    mended = mend(handed_in, released)
    assert mended.notebook.cells[place].source == released.cells[place].source


@pytest.mark.parametrize("keep_ids", [True, False], ids=["ids kept", "new ids"])
def test_stripped_metadata_is_matched_back(handed_in, released, keep_ids):
    for number, cell in enumerate(handed_in.cells):
        cell.metadata = nbformat.from_dict({})
        if not keep_ids:
            cell["id"] = f"new-{number}"
    handed_in.cells.insert(4, nbformat.v4.new_code_cell("helper = 1"))
    mended = mend(handed_in, released)
    assert any("their metadata was gone" in note for note in mended.notes)
    assert "helper = 1" in [cell.source for cell in mended.notebook.cells]
    mended.notebook.cells = [
        c for c in mended.notebook.cells if c.source != "helper = 1"
    ]
    is_whole(mended.notebook, released)


def test_two_candidates_for_one_answer_are_not_guessed(handed_in, released):
    for number, cell in enumerate(handed_in.cells):
        cell.metadata, cell["id"] = nbformat.from_dict({}), f"new-{number}"
    other = nbformat.v4.new_code_cell("def softmax(scores):\n    return scores")
    handed_in.cells.insert(3, other)
    with pytest.raises(CourseError, match="softmax: 2 cells could be the answer"):
        mend(handed_in, released)


def test_reordered_cells_are_put_in_order(handed_in, released):
    handed_in.cells = handed_in.cells[::-1]
    is_whole(mend(handed_in, released).notebook, released)


def test_what_a_cell_says_of_itself_plays_no_part(handed_in, released):
    place = place_of(handed_in, "check-softmax")
    cell = handed_in.cells[place]
    cell.metadata["nbgrader"] |= {"points": 1000, "locked": False, "solution": True}
    cell.metadata["tags"] = ["skip-execution"]
    handed_in.metadata["kernelspec"] = {"name": "evil", "display_name": "Evil"}
    handed_in.cells[place_of(handed_in, "softmax")].metadata["tags"] = [
        "raises-exception"
    ]
    mended = mend(handed_in, released).notebook
    assert mended.cells[place].metadata == released.cells[place].metadata
    assert mended.metadata == released.metadata
    assert "tags" not in mended.cells[place_of(mended, "softmax")].metadata


@pytest.mark.parametrize("name", [["a"], {}, 7, None], ids=str)
def test_a_grade_id_that_is_no_text_is_no_grade_id(handed_in, released, name):
    place = place_of(handed_in, "check-softmax")
    handed_in.cells[place].metadata["nbgrader"]["grade_id"] = name
    is_whole(mend(handed_in, released).notebook, released)


def test_a_picture_pasted_into_a_written_answer_stays(handed_in, released):
    cell = handed_in.cells[place_of(handed_in, "in-your-own-words")]
    cell.attachments = {
        "a.png": {"image/png": "AAAA", "text/html": "<script>"},
        "b.html": {"text/html": "<script>"},
        "c.png": None,
    }
    mended = mend(handed_in, released).notebook
    is_whole(mended, released)
    kept = mended.cells[place_of(mended, "in-your-own-words")].attachments
    assert kept == {"a.png": {"image/png": "AAAA"}}


# --- files --------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, handed_in):
    """A submission on disk: folder, where to prepare it, what is expected."""
    path = tmp_path / "in"
    path.mkdir()
    nbformat.write(handed_in, path / "self-attention.ipynb")
    return path


def prepared(folder, released):
    target = folder.parent / "out"
    model = folder.parent / "model" / "self-attention.ipynb"
    model.parent.mkdir(exist_ok=True)
    nbformat.write(released, model)
    return prepare(folder, {"self-attention.ipynb": model}, target), target


@pytest.mark.parametrize(
    "name", ["self-attention (1).ipynb", "Self_Attention_final.ipynb", "homework.ipynb"]
)
def test_a_renamed_notebook_is_taken(folder, released, name):
    (folder / "self-attention.ipynb").rename(folder / name)
    (folder / "Untitled.ipynb").write_text(json.dumps(nbformat.v4.new_notebook()))
    notes, target = prepared(folder, released)
    assert f"{name} was taken for self-attention.ipynb" in notes
    assert "Untitled.ipynb is not part of the exercise: ignored" in notes
    is_whole(nbformat.read(target / "self-attention.ipynb", 4), released)


def test_two_notebooks_that_could_be_meant_are_not_guessed(folder, released):
    text = (folder / "self-attention.ipynb").read_text()
    (folder / "self-attention.ipynb").unlink()
    for name in ("a.ipynb", "b.ipynb"):
        (folder / name).write_text(text)
    with pytest.raises(CourseError, match=r"could be meant: a\.ipynb, b\.ipynb"):
        prepared(folder, released)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_other_encodings_are_read(folder, released, encoding):
    path = folder / "self-attention.ipynb"
    path.write_bytes(
        json.dumps(json.loads(path.read_text()), ensure_ascii=True).encode(encoding)
    )
    _, target = prepared(folder, released)
    is_whole(nbformat.read(target / "self-attention.ipynb", 4), released)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 100,
        b"{",
        b"[]",
        b'{"cells": 3}',
        b"[" * 100_000,
        b'{"nbformat": 99}',
        b"<html>",
    ],
    ids=["empty", "zeros", "cut off", "a list", "no cells", "deep", "version", "html"],
)
def test_what_is_no_notebook_is_refused_with_a_reason(folder, released, content):
    (folder / "self-attention.ipynb").write_bytes(content)
    with pytest.raises(CourseError, match="self-attention"):
        prepared(folder, released)


def test_a_notebook_in_a_subfolder_does_not_replace_the_real_one(folder, released):
    (folder / "old").mkdir()
    nbformat.write(released, folder / "old" / "self-attention.ipynb")
    notes, target = prepared(folder, released)
    assert notes == ["old/self-attention.ipynb is there a second time: ignored"]
    is_whole(nbformat.read(target / "self-attention.ipynb", 4), released)


@pytest.mark.parametrize("text", [b"tomorrow, honest", b"\xff\xfe", b""])
def test_a_timestamp_that_is_no_time_is_left_out(folder, released, text):
    (folder / "timestamp.txt").write_bytes(text)
    notes, target = prepared(folder, released)
    assert notes == ["timestamp.txt holds no time: ignored"]
    assert not (target / "timestamp.txt").exists()


def test_half_a_character_in_an_answer_is_replaced(folder, released):
    path = folder / "self-attention.ipynb"
    text = path.read_text().replace("My own words.", "My \\ud800 words.")
    path.write_text(text)
    _, target = prepared(folder, released)
    assert "My ? words." in (target / "self-attention.ipynb").read_text()


@pytest.mark.parametrize("odd", ["", " "], ids=["even", "odd"])
def test_an_old_encoding_is_read_whatever_its_length(folder, released, odd):
    path = folder / "self-attention.ipynb"
    text = json.dumps(json.loads(path.read_text()))
    text = text.replace("My own words.", "Caf\xe9.")
    path.write_bytes((text + " " * (len(text) % 2) + odd).encode("latin-1"))
    _, target = prepared(folder, released)
    assert "Caf\xe9." in (target / "self-attention.ipynb").read_text(encoding="utf-8")


def test_files_are_taken_up_to_a_bound(folder, released):
    for number in range(6):
        with (folder / f"{number}.bin").open("wb") as file:
            file.truncate(45_000_000)
    notes, target = prepared(folder, released)
    assert notes == [f"{n}.bin goes over 200 MB: ignored" for n in (4, 5)]
    assert len(list(target.glob("*.bin"))) == 4
    is_whole(nbformat.read(target / "self-attention.ipynb", 4), released)


def test_links_large_and_many_files_are_left_out(folder, released, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (folder / "data.csv").symlink_to(tmp_path / "secret")
    with (folder / "big.bin").open("wb") as file:
        file.truncate(3_000_000_000)
    (folder / "hw1.html").write_text("mine")
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "x.ipynb").write_text("{}")
    for number in range(700):
        (folder / f"f{number}.txt").write_text("x")
    (folder / "helper.py").write_text("x = 1")
    notes, target = prepared(folder, released)
    names = {path.name for path in target.rglob("*")}
    assert "data.csv is not a plain file: ignored" in notes
    assert "big.bin has 3000 MB: ignored" in notes
    assert any("files over 500: ignored" in note for note in notes)
    assert not names & {"data.csv", "big.bin", "hw1.html", "x.ipynb"}


def test_a_submission_that_is_a_link_is_refused(folder, released, tmp_path):
    (tmp_path / "eve").symlink_to(folder)
    with pytest.raises(CourseError, match="eve is a link"):
        prepare(tmp_path / "eve", {}, tmp_path / "out")


def test_nothing_is_in_the_way_of_the_instructors_files(folder, released, tmp_path):
    source = tmp_path / "source"
    (source / "figures").mkdir(parents=True)
    (source / "data.txt").write_text("the instructor's")
    (folder / "data.txt").mkdir()
    for name in ("data.txt/x", "figures"):
        (folder / name).write_text("in the way")
    model = tmp_path / "model.ipynb"
    nbformat.write(released, model)
    notes = prepare(folder, {"self-attention.ipynb": model}, tmp_path / "out", source)
    assert notes == [
        f"{name} is in the way: ignored" for name in ("figures", "data.txt/x")
    ]
    assert not (tmp_path / "out" / "data.txt").exists()


def test_a_released_notebook_that_is_gone_is_no_fault_of_the_answer(folder, tmp_path):
    gone = {"self-attention.ipynb": tmp_path / "gone.ipynb"}
    with pytest.raises(MachineFault, match="release the assignment again"):
        prepare(folder, gone, tmp_path / "out")


def test_a_link_instead_of_the_notebook_is_refused(folder, released, tmp_path):
    (folder / "self-attention.ipynb").unlink()
    (folder / "self-attention.ipynb").symlink_to("/etc/passwd")
    with pytest.raises(CourseError, match="found no notebook at all"):
        prepared(folder, released)
