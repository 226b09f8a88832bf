"""A release is the same every time, stands alone, and gives nothing away."""

import base64
import json
import re
import subprocess
import sys
import zlib

import nbformat
import pytest

from autograder.classroom import Classroom
from autograder.errors import CourseError
from autograder.exercise import all_exercises, find_exercise, marked
from autograder.leaks import bad_files, bad_markers, find_leaks, pieces_of, secrets_of
from autograder.release import source_notebook, write_source

EXERCISE = find_exercise("01-self-attention")


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A class folder in which the exercise is released."""
    classroom = Classroom.create(tmp_path_factory.mktemp("released"))
    classroom.release(EXERCISE)
    return classroom.root


def notebook_in(root, folder="release"):
    return root / folder / EXERCISE.name / f"{EXERCISE.notebook}.ipynb"


def test_two_releases_are_the_same_byte_for_byte(released, tmp_path):
    again = Classroom.create(tmp_path / "again")
    assert again.release(EXERCISE).read_bytes() == notebook_in(released).read_bytes()
    source = notebook_in(again.root, "source").read_bytes()
    assert source == notebook_in(released, "source").read_bytes()


def test_cell_ids_are_the_grade_ids(released):
    for cell in nbformat.read(notebook_in(released), 4).cells:
        if "nbgrader" in cell.metadata:
            assert cell["id"] == cell.metadata["nbgrader"]["grade_id"]


def test_stubs_keep_signature_and_docstring(released):
    cells = {c["id"]: c.source for c in nbformat.read(notebook_in(released), 4).cells}
    for name, source in EXERCISE.pieces.items():
        docstring = source.split('"""')[1]
        assert docstring in cells[name]
        assert "raise NotImplementedError()" in cells[name]
    assert cells["SelfAttention"].count("raise NotImplementedError()") == 2


def test_no_line_of_a_solution_or_hidden_test_is_released(released):
    """An independent look: by lines of the reference and of the hidden regions."""
    notebook = nbformat.read(notebook_in(released), 4)
    everything = "\n".join(cell.source for cell in notebook.cells)
    packed = next(c.source for c in notebook.cells if c["id"] == "set-up-checks")
    packed = base64.b64decode(packed.split('"""')[1])
    everything += str(json.loads(zlib.decompress(packed)))
    assert "BEGIN SOLUTION" not in everything and "HIDDEN TESTS" not in everything
    for source in EXERCISE.pieces.values():
        inside = re.findall(r"### BEGIN SOLUTION\n(.*?)### END", marked(source), re.S)
        for line in "\n".join(inside).splitlines():
            assert len(line.strip()) < 30 or line.strip() not in everything
    author = (EXERCISE.folder / "exercise.md").read_text(encoding="utf-8")
    labels = set(re.findall(r'check\.hidden\("(.+?)"\)', author))
    labels -= set(re.findall(r'with check\("(.+?)"\)', author))
    assert len(labels) > 20
    assert not [label for label in labels if f'"{label}"' in everything]


def test_the_release_folder_holds_the_listed_files_only(released):
    names = {path.name for path in notebook_in(released).parent.iterdir()}
    assert names == {"self-attention.ipynb", "requirements.txt"}


def test_the_notebook_stands_alone(released, tmp_path):
    """Its cells run with nothing of the course on the path."""
    notebook = nbformat.read(notebook_in(released), 4)
    code = [c.source for c in notebook.cells if c.get("id", "").startswith("set-up")]
    code.append("print(getattr(checks, '__file__', 'inside'))")
    script = tmp_path / "alone.py"
    script.write_text("\n".join(code))
    run = subprocess.run(
        [sys.executable, "-I", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.stdout.strip() == "inside", run.stderr


# --- what must be refused -------------------------------------------------------------


def source_and_release():
    """Give the source and a clean release, both in memory."""
    source = source_notebook(EXERCISE)
    clean = source_notebook(EXERCISE)
    for cell in clean.cells:
        text = re.sub(
            r"( *)### BEGIN SOLUTION.*?### END SOLUTION",
            r"\1pass",
            cell.source,
            flags=re.S,
        )
        cell.source = re.sub(
            r"### BEGIN HIDDEN.*?### END HIDDEN TESTS\n", "", text, flags=re.S
        )
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "in-your-own-words":
            cell.source = "YOUR ANSWER HERE"
    return source, clean


def test_a_clean_release_passes():
    source, clean = source_and_release()
    assert find_leaks(clean, secrets_of(source), pieces_of(source)) == []


SOLUTION = """\
largest = scores.amax(dim=-1, keepdim=True)
exponentials = torch.exp(scores - largest)"""
HIDDEN = """\
scores = numbers(4, 6, seed=6, scale=10_000.0)
finite(gradient(softmax, numbers(3, 5, seed=8, scale=10_000.0)))"""


@pytest.mark.case(
    "S10-secret", "a solution or hidden test anywhere in the source", "release refused"
)
@pytest.mark.parametrize("secret", [SOLUTION, HIDDEN], ids=["solution", "hidden test"])
@pytest.mark.parametrize(
    "place", ["source", "markdown", "metadata", "output", "attachment"]
)
def test_a_secret_is_found_wherever_it_hides(place, secret):
    source, dirty = source_and_release()
    code = next(c for c in dirty.cells if c.cell_type == "code")
    text = next(c for c in dirty.cells if c.cell_type == "markdown")
    if place == "source":
        code.source += "\n" + secret
    elif place == "markdown":
        text.source += "\n" + secret
    elif place == "metadata":
        code.metadata["note"] = {"deep": [secret]}
    elif place == "output":
        code.outputs = [nbformat.v4.new_output("stream", text=secret)]
    else:
        text["attachments"] = {"a.txt": {"text/plain": secret}}
    leaks = find_leaks(dirty, secrets_of(source), pieces_of(source))
    assert len(leaks) >= 1 and leaks[0].startswith("cell ")


@pytest.mark.parametrize(
    "answer",
    [a for a in EXERCISE.alternatives if a.piece in {"softmax", "SelfAttention"}],
    ids=lambda answer: answer.id,
)
def test_a_piece_with_another_body_is_found_in_a_plain_cell(answer):
    source, dirty = source_and_release()
    dirty.cells.insert(3, nbformat.v4.new_code_cell(answer.source))
    leaks = find_leaks(dirty, secrets_of(source), pieces_of(source))
    assert any(f"defines {answer.piece} with a body" in leak for leak in leaks)


@pytest.mark.parametrize(
    "line",
    [
        "### BEGIN HIDDEN TEST",
        "### BEGIN HIDEN TESTS",
        "### Begin hidden tests",
        "###BEGIN_HIDDEN_TESTS",
        "### END SOLUTON",
        "## BEGIN  HIDDEN  TESTS",
    ],
)
@pytest.mark.case("S10-marker", "a misspelt marker", "release refused, place named")
def test_a_misspelt_marker_is_named(line):
    source, _ = source_and_release()
    source.cells[5].source += f"\n{line}\nassert True"
    assert any(line.strip() in found for found in bad_markers(source))


@pytest.mark.parametrize(
    "line",
    ["# Begin with the last row", "# solution of the equation", "### Hidden units"],
)
def test_an_ordinary_comment_is_no_marker(line):
    source, _ = source_and_release()
    source.cells[5].source += f"\n{line}"
    assert list(bad_markers(source)) == []


def test_a_marker_that_is_not_closed_is_named():
    source, _ = source_and_release()
    source.cells[5].source = "### BEGIN HIDDEN TESTS\nassert secret"
    assert any(
        "1 BEGIN HIDDEN TESTS and 0 END" in found for found in bad_markers(source)
    )


@pytest.mark.parametrize(
    "name",
    ["self-attention.py", "self-attention.md", "answers.zip", "notes.txt", "key"],
)
@pytest.mark.case("S10-file", "a twin of the source beside it", "release refused")
def test_an_unlisted_file_is_refused(tmp_path, name):
    write_source(EXERCISE, tmp_path)
    (tmp_path / name).write_text("x = 1")
    assert any(
        name in found for found in bad_files(tmp_path, ["*.ipynb", "requirements.txt"])
    )


def test_a_link_is_refused(tmp_path):
    write_source(EXERCISE, tmp_path)
    (tmp_path / "data.csv").symlink_to("/etc/hostname")
    assert any(
        "is a link" in found
        for found in bad_files(tmp_path, ["*.ipynb", "*.csv", "*.txt"])
    )


def test_asking_for_a_piece_that_is_not_there_says_so(tmp_path):
    folder = tmp_path / "02-typo"
    folder.mkdir()
    text = (
        (EXERCISE.folder / "exercise.md")
        .read_text()
        .replace(":asks: softmax", ":asks: sofmax")
    )
    (folder / "exercise.md").write_text(text)
    with pytest.raises(CourseError, match="asks for sofmax, and self_attention"):
        type(EXERCISE)(folder).pieces  # noqa: B018


def test_every_exercise_assembles():
    for exercise in all_exercises():
        nbformat.validate(source_notebook(exercise))
