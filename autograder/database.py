"""Where the marks are kept: a file in the class folder, or a PostgreSQL server."""

import contextlib
import functools
from pathlib import Path

import nbgrader.api
from nbgrader.api import Gradebook
from nbgrader.preprocessors import overwritecells, saveautogrades
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import ArgumentError, OperationalError

from autograder.errors import CourseError, MachineFault
from autograder.results import write_whole
from autograder.texts import first_line

REMEMBERED = "gradebook.url"
LOOKED_UP = {  # by nbgrader, for every submission
    "grade": "notebook_id",
    "comment": "notebook_id",
    "submitted_notebook": "assignment_id",
    "submitted_assignment": "student_id",
}
EXPECTED = "Expected an address like postgresql://user@host/name"


def gradebook_url(root: Path) -> str:
    """Give the address of the gradebook of a class, for SQLAlchemy and nbgrader.

    Without another it is a file in the folder, whose users wait a minute for a lock.
    """
    kept = root / REMEMBERED
    if kept.exists():
        return address(kept.read_text(encoding="utf-8").strip())
    return f"sqlite:///{root / 'gradebook.db'}?timeout=60"


def address(db: str) -> str:
    """Check the address of a PostgreSQL gradebook, and name our driver in it.

    Raises CourseError when it is none, or when it holds a password.
    """
    try:
        url = make_url(db)
    except (ArgumentError, ValueError):
        raise CourseError(f"This is no address of a gradebook. {EXPECTED}.") from None
    if "password" in f"{list(url.query)}" or url.password is not None:
        raise CourseError(
            "The address of the gradebook holds a password, and the class folder would "
            f"show it to its readers. {EXPECTED}. Put the password into ~/.pgpass, or "
            "into a file that PGPASSFILE names."
        )
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise CourseError(
            f"A gradebook cannot be kept in {url.get_backend_name()}. {EXPECTED}; "
            "without --db it is a file in the class folder."
        )
    if not url.database:
        raise CourseError(
            f"The address of the gradebook names no database. {EXPECTED}."
        )
    return f"postgresql+psycopg://{db.split('://', 1)[1]}"


def use_gradebook(root: Path, db: str) -> None:
    """Keep the gradebook of a class at an address from now on.

    Raises CourseError when nothing answers there, or when its marks are elsewhere.
    """
    wanted, kept = address(db), root / REMEMBERED
    begun = kept.exists() or (root / "gradebook.db").exists()
    if begun and gradebook_url(root) != wanted:
        raise CourseError(
            f"The gradebook of this class is {gradebook_url(root)}. Expected the same "
            "address, or no --db: marks do not move by themselves. Make another class "
            "folder for another gradebook."
        )
    with answering():
        engine = create_engine(wanted)
        engine.connect().close()
        engine.dispose()
    if not begun:
        write_whole(kept, wanted + "\n")


def add_indexes(gradebook) -> None:
    """Keep look-ups quick in a large class: nbgrader reads whole tables for them."""
    for table, column in LOOKED_UP.items():
        made = f"CREATE INDEX IF NOT EXISTS course_{table} ON {table} ({column})"
        gradebook.db.execute(text(made))
    gradebook.db.commit()


class OneNotebook(Gradebook):
    """A gradebook for the cells of one notebook: looked up at once, and kept at once.

    nbgrader asks for them one by one, and writes to the disk after each.
    """

    def __init__(self, *args, **kwargs):
        """Open it as nbgrader does; what is to be kept waits for :meth:`close`."""
        super().__init__(*args, **kwargs)
        self.found: dict = {}
        self.keep, self.db.commit = self.db.commit, lambda: None

    def close(self) -> None:
        """Keep what was changed, and close."""
        try:
            self.keep()
        finally:
            super().close()

    def find_source_cell(self, name, *where):
        """Find a source cell; raises MissingEntry, like the others here."""
        found = self.among("source_cells", name, where)
        return found or super().find_source_cell(name, *where)

    def find_graded_cell(self, name, *where):
        """Find a cell that has points."""
        found = self.among("grade_cells", name, where)
        return found or super().find_graded_cell(name, *where)

    def find_grade(self, name, *where):
        """Find the points of a student for a cell."""
        return self.among("grades", name, where) or super().find_grade(name, *where)

    def find_comment(self, name, *where):
        """Find the comment on a student's cell."""
        return self.among("comments", name, where) or super().find_comment(name, *where)

    def among(self, kind: str, name: str, where: tuple):
        """Look in one notebook, of a student if three names say where; give None."""
        if (kind, where) not in self.found:
            one = self.find_submission_notebook if where[2:] else self.find_notebook
            owner = one(*where)
            if where[2:]:
                owner.notebook.grade_cells  # noqa: B018  reads the names of all cells
            named = {item.name: item for item in getattr(owner, kind)}
            self.found[kind, where] = owner, named
        return self.found[kind, where][1].get(name)


def quicken() -> None:
    """Let nbgrader do less for each submission, for the life of this process.

    It opens its gradebook a dozen times. One engine is kept for each, which prepares
    a statement once; its tables are made once; cells are looked up by notebook.
    """
    if not hasattr(nbgrader.api.create_engine, "cache_info"):
        nbgrader.api.create_engine = functools.cache(nbgrader.api.create_engine)
        tables = nbgrader.api.Base.metadata
        tables.create_all = functools.cache(tables.create_all)
        overwritecells.Gradebook = saveautogrades.Gradebook = OneNotebook


@contextlib.contextmanager
def answering():
    """Turn what a database says that is away, or busy, into a MachineFault."""
    try:
        yield
    except (OperationalError, ImportError) as error:
        raise MachineFault(
            f"The gradebook does not answer: {first_line(error)}. Look at its server "
            "and at your password (~/.pgpass or PGPASSFILE), then run this again."
        ) from error
