"""Marks for Canvas and Moodle: what their imports read, and what needs a look."""

import csv
import shutil
from datetime import datetime

import pytest
from typer.testing import CliRunner

from autograder.classroom import Classroom
from autograder.cli import app
from autograder.collect import _remember
from autograder.errors import CourseError
from autograder.export import export, number
from autograder.grade import digest_of
from autograder.lms import Arrival, Owner
from autograder.results import FAILED, NOTED, Result, ResultStore
from autograder.roster import read_roster

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

NAME = "01-self-attention"
MARKS = [("ada", 92, 7.5), ("ben", 46.333, 0), ("cy", 0, None), ("김-민지", 92, 9)]
WORKSHEET = ["Identifier", "Grade", "Last modified (grade)", "Feedback comments"]
ROSTER = """id,name,email,canvas_id,sis_login_id,section
ada,Ada Lovelace,ada@example.org,12345,al,A
ben,"=HYPERLINK(""http://x"")",+ben@example.org,,@ben,-1
cy,"Said ""Cy"", Jr.",cy@example.org,77,,
김-민지,김 민지,minji@example.org,78,,
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A class with marks in its gradebook; nothing was run for them."""
    with pytest.MonkeyPatch.context() as patch:  # alembic is slow, and plays no part
        patch.setattr("nbgrader.api.get_alembic_version", lambda: "none")
        return made_class(tmp_path_factory)


def made_class(tmp_path_factory):
    room = Classroom.create(tmp_path_factory.mktemp("model") / "class")
    with room.gradebook() as gradebook:
        due = datetime(2021, 3, 12)
        gradebook.add_assignment(NAME, duedate=due)
        gradebook.add_notebook("self-attention", NAME)
        where = ("self-attention", NAME)
        gradebook.add_grade_cell("check", *where, max_score=92, cell_type="code")
        gradebook.add_grade_cell("essay", *where, max_score=8, cell_type="markdown")
        gradebook.add_solution_cell("essay", *where)
        marks = {
            "ada": (92, 7.5),
            "ben": (46.333, 0),
            "cy": (0, None),
            "김-민지": (92, 9),
        }
        for student, (score, written) in marks.items():
            gradebook.add_student(student)
            submission = gradebook.add_submission(NAME, student)
            grades = {g.name: g for g in submission.notebooks[0].grades}
            grades["check"].auto_score = score
            grades["check"].needs_manual_grade = False
            grades["essay"].manual_score = written
            grades["essay"].needs_manual_grade = written is None
            gradebook.db.commit()
        gradebook.find_comment(
            "essay", "self-attention", NAME, "ada"
        ).manual_comment = "=Fine\nthought & <b>clear</b>"
        gradebook.db.commit()
    return room


@pytest.fixture
def room(model, tmp_path):
    shutil.copytree(model.root, tmp_path / "class")
    return Classroom.open(tmp_path / "class")


@pytest.fixture
def roster(tmp_path):
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    return read_roster(tmp_path / "roster.csv")


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def by_id(path, key="ID number"):
    with path.open(encoding="utf-8", newline="") as file:
        return {row[key]: row for row in csv.DictReader(file)}


def test_canvas_gets_its_own_columns(room, roster):
    made = export(room, NAME, "canvas", roster)
    assert made.path == room.root / f"canvas-{NAME}.csv"
    assert table(made.path) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", NAME],
        ["    Points Possible", "", "", "", "", "100"],
        ["Ada Lovelace", "12345", "", "al", "A", "99.5"],
        ['\'=HYPERLINK("http://x")', "", "", "'@ben", "'-1", "46.33"],
        ['Said "Cy", Jr.', "77", "", "", "", "0"],
        ["김 민지", "78", "", "", "", "101"],
    ]
    assert made.notes == ["waiting for a mark by hand: cy"]
    raw = made.path.read_bytes()
    assert raw.count(b"\r\n") == raw.count(b"\n") == 6


def test_moodle_gets_a_worksheet(room, roster):
    made = export(room, NAME, "moodle", roster)
    rows = by_id(made.path)
    head = table(made.path)[0]
    assert set(WORKSHEET) <= set(head) and head.index("Feedback comments") > 0
    assert [row["Grade"] for row in rows.values()] == ["99.5", "46.33", "0", "101"]
    assert {row["Maximum grade"] for row in rows.values()} == {"100"}
    assert rows["ada"]["Email address"] == "ada@example.org"
    assert rows["ben"]["Email address"] == "'+ben@example.org"
    assert {row["Last modified (grade)"] for row in rows.values()} == {""}
    assert "over the maximum, so that Moodle skips them: 김-민지" in made.notes


def test_comments_say_what_lost_points_in_one_line_without_html(room, roster):
    wrong = {"check": "check", "id": "m1", "sentence": "Scores are not scaled <yet>."}
    cells = {"check": {"kind": "check", "mistake": wrong}}
    result = Result("ben", NAME, "x", cells=cells)
    ResultStore(room.root, NAME).save(result)
    rows = by_id(export(room, NAME, "moodle", roster).path)
    said = {student: row["Feedback comments"] for student, row in rows.items()}
    fine = "=Fine thought &amp; &lt;b&gt;clear&lt;/b&gt;"
    assert said["ada"] == f"essay: 7.5 of 8. {fine}"
    assert said["ben"].endswith("Scores are not scaled &lt;yet&gt;.")
    assert said["ben"].startswith("check: 46.33 of 92. essay: 0 of 8.")
    assert "essay: not marked yet." in said["cy"]
    assert said["김-민지"] == ""


def test_a_comment_that_is_a_formula_is_made_harmless(room):
    with room.gradebook() as gradebook:
        grade = gradebook.find_grade("essay", "self-attention", NAME, "ada")
        grade.manual_score = 8
        gradebook.db.commit()
    rows = by_id(export(room, NAME, "moodle").path)
    assert rows["ada"]["Feedback comments"].startswith("'=Fine")


def test_what_the_download_said_is_given_back(room):
    owners = {
        "ada": Owner("Ada Lovelace", "moodle", "901"),
        "ben": Owner("carterben", "canvas", "34"),
    }
    arrivals = {s: [Arrival(None, owner, ("x",))] for s, owner in owners.items()}
    _remember(room, NAME, arrivals, {})
    made = export(room, NAME, "moodle")
    rows = by_id(made.path)
    assert rows["ada"]["Identifier"] == "Participant 901"
    assert rows["ada"]["Full name"] == "Ada Lovelace"
    assert any(note.endswith("ID number: ben, cy, 김-민지") for note in made.notes)
    made = export(room, NAME, "canvas")
    assert by_id(made.path, "Student")["carterben"]["ID"] == "34"
    assert any(note.endswith("find them: cy, 김-민지") for note in made.notes)


def test_a_penalty_counts(room):
    with room.gradebook() as gradebook:
        for student, penalty in {"ada": 10, "ben": 99}.items():
            (notebook,) = gradebook.find_submission(NAME, student).notebooks
            notebook.late_submission_penalty = penalty
        gradebook.db.commit()
    rows = by_id(export(room, NAME, "moodle").path)
    assert [rows[s]["Grade"] for s in ("ada", "ben")] == ["89.5", "0"]


def hand_in(room, student, text="x"):
    path = room.root / "submitted" / student / NAME / "self-attention.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_work_without_a_mark_is_told(room):
    store = ResultStore(room.root, NAME)
    for student in ("ada", "ben", "cy", "dee", "eve"):
        hand_in(room, student)
    for student, status in {
        "ada": NOTED,
        "ben": FAILED,
        "cy": NOTED,
        "dee": FAILED,
    }.items():
        store.save(Result(student, NAME, digest_of(room, NAME, student), status))
    hand_in(room, "cy", "newer")
    made = export(room, NAME, "canvas")
    assert "left out, could not be graded: ben, dee" in made.notes
    assert any(note.endswith("course grade: cy, eve") for note in made.notes)
    assert set(by_id(made.path, "Student")) >= {"ada", "cy"}
    assert "ben" not in by_id(made.path, "Student")


def test_again_gives_the_same_bytes(room, roster):
    paths = [export(room, NAME, lms, roster).path for lms in ("canvas", "moodle")]
    before = [path.read_bytes() for path in paths]
    for lms in ("canvas", "moodle"):
        export(room, NAME, lms, roster)
    assert [path.read_bytes() for path in paths] == before
    assert not list(room.root.glob(".*.part"))


def test_without_marks_there_is_nothing_to_export(room):
    with room.gradebook() as gradebook:
        gradebook.add_assignment("02-other")
    with pytest.raises(CourseError, match="No mark of 02-other"):
        export(room, "02-other", "canvas")


@pytest.mark.parametrize(
    ("value", "shown"), [(92.0, "92"), (0.1 + 0.2, "0.3"), (1e6 + 0.125, "1000000.12")]
)
def test_numbers_are_plain(value, shown):
    assert str(number(value)) == shown


def test_the_command(room, tmp_path):
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    words = ["--class", str(room.root), "--students", str(tmp_path / "roster.csv")]
    run = CliRunner().invoke(app, ["export", "canvas", *words])
    assert run.exit_code == 1 and "waiting for a mark by hand: cy" in run.output
    with room.gradebook() as gradebook:
        grade = gradebook.find_grade("essay", "self-attention", NAME, "cy")
        grade.manual_score, grade.needs_manual_grade = 1, False
        gradebook.db.commit()
    run = CliRunner().invoke(app, ["export", "canvas", *words])
    assert run.exit_code == 0 and "4 marks: " in run.output
    assert CliRunner().invoke(app, ["export", "blackboard", *words]).exit_code == 2
