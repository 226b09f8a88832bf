"""A class folder: nbgrader's own layout, with the course's settings."""

import contextlib
import errno
import json
import os
import re
import shutil
import sqlite3
import sys
import warnings
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback, base
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SAWarning
from traitlets.config import Config, PyFileConfigLoader

from autograder.database import (
    add_indexes,
    answering,
    gradebook_url,
    use_gradebook,
)
from autograder.errors import CourseError, MachineFault
from autograder.exercise import Exercise
from autograder.mend import plain_files
from autograder.results import write_whole
from autograder.sandbox.server import NOT_STARTED

# nbgrader builds its rows in an order that SQLAlchemy 2 remarks on; they are saved.
warnings.filterwarnings("ignore", category=SAWarning)

#: Of the machine: a disk, a process table or a gradebook that does not do its part.
FAULTS = {
    errno.EIO, errno.ENFILE, errno.EMFILE, errno.ENOSPC, errno.EDQUOT, errno.EROFS,
    errno.EAGAIN, errno.ENOMEM,
}  # fmt: skip
FAULT = re.compile(
    rf"{NOT_STARTED}|[\w.]*OperationalError"
    rf"|\w+Error: \[Errno ({'|'.join(map(str, sorted(FAULTS)))})\]"
)

CONFIG = "nbgrader_config.py"
CONFIG_TEXT = '''\
"""Settings of this class for nbgrader and for `course`; yours to extend."""

from pathlib import Path

from autograder.classroom import configure

c = get_config()  # noqa: F821
configure(c, Path(__file__).parent)

# nbgrader's own options go here, for example:
# c.CourseDirectory.course_id = "transformers-2027"
'''


def configure(c: Config, root: Path) -> None:
    """Set what the course needs in nbgrader's configuration of one class folder.

    The gradebook is where the class keeps it; kernels are stopped at once; releases
    are checked for leaks; feedback does not show hidden tests.
    """
    _find_programs()
    root = Path(root).resolve()
    base.find_all_files = plain_files(root)  # nbgrader would copy what links lead to
    c.CourseDirectory.root = str(root)
    c.CourseDirectory.db_url = gradebook_url(root)
    if c.CourseDirectory.db_url.startswith("postgresql"):
        # nbgrader's own name where none is given; PostgreSQL insists that there is one
        c.CourseDirectory.course_id = "default_course"
    c.ClearSolutions.code_stub = {
        "python": "# YOUR CODE HERE\nraise NotImplementedError()"
    }
    stock = _names(Autograde.autograde_preprocessors)
    trusted = os.environ.get("COURSE_TRUST") == "1"  # set by `course grade --trust`
    execute = stock[0] if trusted else "autograder.boundary.execute.SplitExecute"
    clean = "autograder.cleaning.CleanOutputs"  # what students write stays harmless
    c.Autograde.autograde_preprocessors = [execute, clean, *stock[1:-1]]
    ahead = [] if trusted else ["autograder.boundary.execute.StartAhead"]
    sanitize = _names(Autograde.sanitize_preprocessors)
    c.Autograde.sanitize_preprocessors = ["autograder.mend.Mend", *ahead, *sanitize]
    c.ClearMetadataPreprocessor.preserve_nb_metadata_mask = {
        ("language_info", "name"),
        ("computing",),
    }
    c.Autograde.exporter_class = "autograder.notebooks.QuickExporter"
    c.Exporter.optimistic_validation = True  # once, after all preprocessors
    c.HTMLExporter.preprocessors = [clean]
    c.HTMLExporter.filters = {"markdown2html": "autograder.cleaning.markdown2html"}
    c.HTMLExporter.sanitize_html = True
    c.Execute.shutdown_kernel = "immediate"
    c.GenerateAssignment.preprocessors = [
        *_names(GenerateAssignment.preprocessors),
        "autograder.leaks.RefuseLeaks",
    ]
    c.GenerateFeedback.preprocessors = [
        *_names(GenerateFeedback.preprocessors),
        "autograder.feedback.HideHiddenTests",
    ]
    c.ExportPlugin.to = "gradebook.csv"  # grades.csv is ours


def _names(preprocessors) -> list[str]:
    """Name nbgrader's own preprocessors, as a configuration file would."""
    return [f"{kind.__module__}.{kind.__name__}" for kind in preprocessors.default()]


def _find_programs() -> None:
    """Let nbgrader find the programs of this environment (it calls alembic by name)."""
    here, path = str(Path(sys.executable).parent), os.environ.get("PATH", "")
    if here not in path.split(os.pathsep):
        os.environ["PATH"] = here + os.pathsep + path


@dataclass(frozen=True)
class Classroom:
    """One class folder, and the ways into it."""

    root: Path

    @classmethod
    def open(cls, root: Path, db: str | None = None) -> "Classroom":
        """Open a class folder, or raise CourseError saying how to make one.

        ``db`` is the address of its gradebook, if that is not a file in the folder;
        it is remembered.
        """
        if not (Path(root) / CONFIG).is_file():
            raise CourseError(
                f"{root} is not a class folder: it has no {CONFIG}. Make one with: "
                f"course release 01-self-attention --class {root}"
            )
        if db:
            use_gradebook(Path(root).resolve(), db)
        return cls(Path(root).resolve())

    @classmethod
    def create(cls, root: Path, db: str | None = None) -> "Classroom":
        """Make a class folder where there is none; an existing one stays as it is."""
        root = Path(root)
        if root.exists() and not root.is_dir():
            raise CourseError(f"{root} is a file. Expected a folder for the class.")
        root.mkdir(parents=True, exist_ok=True)
        for name in ("source", "release", "submitted"):
            (root / name).mkdir(exist_ok=True)
        if not (root / CONFIG).exists():
            (root / CONFIG).write_text(CONFIG_TEXT, encoding="utf-8")
        return cls.open(root, db)

    def config(self) -> Config:
        """Load the settings of this class as nbgrader does."""
        return PyFileConfigLoader(CONFIG, path=str(self.root)).load_config()

    def api(self, submitted: str = "submitted") -> NbGraderAPI:
        """Give nbgrader's own interface to this class; ``submitted`` is where from."""
        config = self.config()
        config.CourseDirectory.submitted_directory = submitted
        if submitted != "submitted":  # prepared by us, from the released notebook
            steps = config.Autograde.sanitize_preprocessors
            config.Autograde.sanitize_preprocessors = steps[1:-1]
        return NbGraderAPI(CourseDirectory(config=config), config=config)

    @contextlib.contextmanager
    def gradebook(self):
        """Open the gradebook for the length of a ``with`` block."""
        course = CourseDirectory(config=self.config())
        with answering():
            gradebook = Gradebook(course.db_url, course.course_id)
        with gradebook:
            yield gradebook

    def assignments(self) -> list[str]:
        """List the assignments that have been released in this class."""
        with self.gradebook() as gradebook:
            return sorted(assignment.name for assignment in gradebook.assignments)

    def students(self, assignment: str) -> list[str]:
        """List the students with a folder for this assignment in ``submitted``."""
        found = (self.root / "submitted").glob(f"*/{assignment}")
        return sorted(path.parent.name for path in found if path.is_dir())

    def one_assignment(self, name: str | None) -> str:
        """Choose the assignment to work on: the one named, or the only one there is."""
        known = self.assignments()
        if name is None and len(known) == 1:
            return known[0]
        if name in known:
            return name
        wanted = f"{name!r} is not released here" if name else "Which assignment?"
        raise CourseError(
            f"{wanted}. Expected one of: {', '.join(known) or 'none yet'}. "
            f"Release one with: course release NAME --class {self.root}"
        )

    def release(self, exercise: Exercise, due: datetime | None = None) -> Path:
        """Write the source of an exercise and let nbgrader make the student version.

        Returns the path of the student's notebook. Raises CourseError when nbgrader
        refuses, for example because a solution would leak; what was released before
        then stays.
        """
        from autograder.release import write_source  # torch is needed only here
        from autograder.trial import fingerprints

        write_source(exercise, self.root / "source" / exercise.name)
        released = self.root / "release" / exercise.name
        kept = self.root / "course" / exercise.name / "released-before"
        if released.exists():  # else a killed run may have left it there
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(released, kept)
        api = self.api()
        result = api.generate_assignment(exercise.name, force=True, create=True)
        if not result["success"] and kept.exists():
            shutil.copytree(kept, released, dirs_exist_ok=True)
        shutil.rmtree(kept, ignore_errors=True)
        if not result["success"]:
            raise CourseError(refusal(result))
        with self.gradebook() as gradebook:
            add_indexes(gradebook)
            if due is not None:
                gradebook.update_or_create_assignment(exercise.name, duedate=due)
        known = json.dumps(fingerprints(exercise, hidden=True))
        write_whole(self.root / "course" / exercise.name / "fingerprints.json", known)
        self._keep_journal()
        return self.root / "release" / exercise.name / f"{exercise.notebook}.ipynb"

    def _keep_journal(self) -> None:
        """Let readers and one writer use the gradebook at the same time."""
        path = self.root / "gradebook.db"
        if path.exists():
            with contextlib.closing(sqlite3.connect(path, timeout=60)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")


def failure(result: dict) -> CourseError:
    """Make an error of what nbgrader did not do; MachineFault where none is to blame.

    nbgrader keeps no exception, only the text of its log.
    """
    reason = refusal(result)
    return (MachineFault if FAULT.match(reason) else CourseError)(reason)


def refusal(result: dict) -> str:
    """Say in few lines why nbgrader did not do what it was asked.

    Its log holds the reason as a sentence of ours, or as the last line of an error.
    """
    log = str(result.get("log") or "")
    if "CourseError: " in log:
        told = log.split("CourseError: ", 1)[1].split("\n[", 1)[0]
        return "\n".join(line.strip() for line in told.splitlines() if line.strip())
    errors = re.findall(r"^    (\w[\w.]*(?:Error|Exception|Exit)\b.*)$", log, re.M)
    errors += re.findall(r"^\[ERROR\] (.+)$", log, re.M)
    return errors[0] if errors else str(result.get("error") or "no reason given")
