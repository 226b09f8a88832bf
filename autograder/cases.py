"""Show what becomes of hostile and broken submissions: the tests, run, as a table.

A test says by ``@pytest.mark.case(id, handed_in, right)`` which row it stands for.
"""

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from autograder.errors import CourseError
from autograder.project import ROOT

TESTS = ROOT / "tests" / "autograder"


@dataclass
class Case:
    """One row: what is handed in, the right outcome, and whether it came out."""

    id: str
    handed_in: str
    right: str
    held: bool = True
    why: str = ""


class Table:
    """A plugin of pytest: chooses the tests that stand for cases, and notes each."""

    def __init__(self, only: list[str], on_case: Callable[[str], None]):
        self.only = tuple(only)
        self.on_case = on_case
        self.known: set[str] = set()
        self.cases: dict[str, Case] = {}
        self.tests: dict[str, Case] = {}

    def pytest_collection_modifyitems(self, config, items) -> None:
        """Keep the tests of the cases that are asked for."""
        for item in items:
            marker = item.get_closest_marker("case")
            self.known |= {marker.args[0]} if marker else set()
            if marker and marker.args[0].startswith(self.only or ("",)):
                case = self.cases.setdefault(marker.args[0], Case(*marker.args))
                self.tests[item.nodeid] = case
        items[:] = [item for item in items if item.nodeid in self.tests]

    def pytest_runtest_logreport(self, report) -> None:
        """Note how a test ended; a case holds if all its tests pass."""
        case = self.tests[report.nodeid]
        self.on_case(case.id)
        if not report.passed:
            crash = getattr(report.longrepr, "reprcrash", None)
            told = crash.message if crash else report.longreprtext
            case.held, case.why = False, case.why or told.strip().splitlines()[0]


def run_cases(
    only: list[str] = (), on_case: Callable[[str], None] = lambda name: None
) -> list[Case]:
    """Run the tests that stand for cases, and say which cases hold.

    ``only`` names the beginnings of the ids that are asked for. Raises CourseError
    when there is no such case, or when the tests cannot be run.
    """
    if not TESTS.is_dir():
        raise CourseError(
            f"The cases are tests of a checkout of the course; {ROOT} is none."
        )
    table, said = Table(only, on_case), io.StringIO()
    options = ["-q", "--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml")]
    options += ["-p", "no:cacheprovider", str(TESTS)]
    with contextlib.redirect_stdout(said):
        ended = pytest.main(options, plugins=[table])
    if ended not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        if table.known and not table.cases:
            raise CourseError(
                f"No case begins with {' or '.join(only)}. Expected the beginning of "
                f"one of: {', '.join(sorted(table.known))}."
            )
        raise CourseError(f"The tests did not run:\n{said.getvalue()[-2000:]}")
    return list(table.cases.values())
