"""`course cases`: the table says what the tests say, and fails with them."""

import os
import subprocess
import sys

import pytest

TRIED = """
import pytest

@pytest.mark.case("A1", "a good answer", "12 of 12 points")
@pytest.mark.parametrize("number", [1, 2])
def test_good(number):
    assert number

@pytest.mark.case("A2", "an answer [that] fails", "refused")
def test_bad():
    assert 1 == 2, "it was taken"

@pytest.mark.case("B", "not tried here", "12 of 12 points")
def test_skipped():
    pytest.skip("no browser")

@pytest.mark.case("C", "not asked for", "12 of 12 points")
def test_not_chosen():
    pass

def test_no_case():
    raise KeyError
"""


@pytest.fixture(scope="module")
def course_cases(tmp_path_factory):
    """Return a function that runs `course cases` on the tests above."""
    folder = tmp_path_factory.mktemp("cases")
    (folder / "test_tried.py").write_text(TRIED)
    code = (
        "import pathlib, sys\n"
        "from autograder import cases, cli\n"
        "cases.TESTS = pathlib.Path(sys.argv.pop(1))\n"
        "cli.main()"
    )

    def run(*options):
        return subprocess.run(
            [sys.executable, "-c", code, folder, "cases", *options],
            capture_output=True,
            text=True,
            timeout=120,
            env=os.environ | {"COLUMNS": "200"},
        )

    return run


def test_a_case_that_does_not_hold_fails_the_command(course_cases):
    ended = course_cases("--only", "A", "--only", "B")
    rows = [" ".join(line.split()) for line in ended.stdout.splitlines()]
    assert ended.returncode == 1, ended.stderr
    assert "A1 a good answer 12 of 12 points yes" in rows
    assert any("A2 an answer [that] fails refused NO: Assertion" in r for r in rows)
    assert any(row.startswith("B not tried here") and "NO" in row for row in rows)
    assert rows[-1] == "1 of 3 cases hold."


def test_an_unknown_case_is_named(course_cases):
    ended = course_cases("--only", "D")
    assert ended.returncode == 2
    said = "No case begins with D. Expected the beginning of one of: A1, A2, B, C."
    assert said in ended.stderr
