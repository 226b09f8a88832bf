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


COMMAND = """
import pathlib, sys
from autograder import cases, cli

cases.TESTS = pathlib.Path(sys.argv[1])
for only in (["A", "B"], ["D"]):
    sys.argv[1:] = ["cases", *(f"--only={one}" for one in only)]
    try:
        cli.main()
    except SystemExit as ended:
        print("ended with", ended.code)
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """Run `course cases` on the tests above, twice; give what it prints."""
    folder = tmp_path_factory.mktemp("cases")
    (folder / "test_tried.py").write_text(TRIED)
    ended = subprocess.run(
        [sys.executable, "-c", COMMAND, folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=200,
        env=os.environ | {"COLUMNS": "200", "PYTHONUNBUFFERED": "1"},
    )
    return [" ".join(line.split()) for line in ended.stdout.splitlines()]


def test_a_case_that_does_not_hold_fails_the_command(said):
    assert "A1 a good answer 12 of 12 points yes" in said
    assert any("A2 an answer [that] fails refused NO: Assertion" in row for row in said)
    assert any(row.startswith("B not tried here") and "NO" in row for row in said)
    assert not any("not asked for" in row for row in said)
    assert "1 of 3 cases hold." in said and "ended with 1" in said


def test_an_unknown_case_is_named(said):
    told = "No case begins with D. Expected the beginning of one of: A1, A2, B, C."
    assert f"course: {told}" in said and said[-1] == "ended with 2"
