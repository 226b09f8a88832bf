"""Tell who handed a file in: from the names that Canvas and Moodle give, or plain ones.

Canvas: ``lastnamefirst_LATE_12345_67890_file-1.ipynb``, with the student's number and
the file's, from ``lib/content_zipper.rb`` of Canvas. Moodle: a folder
``Full Name_12345_assignsubmission_file_``, or that in front of the file's name, from
``mod/assign/classes/downloader.php`` of Moodle. Plain: ``student/file``,
``student_file``, ``student.zip``, and nbgrader's ``student/assignment/file``.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from autograder.archive import Entry, composed
from autograder.errors import CourseError

CANVAS = re.compile(
    r"(?P<name>\w+?)(?P<late>_LATE|_late)?_(?P<number>\d+)_(?P<order>\d+)_(?P<file>.+)"
)
CANVAS_NAMELESS = re.compile(
    r"(?P<late>LATE_)?(?P<name>anon)_(?P<number>\w+?)_(?P<order>\d+)_(?P<file>.+)"
)
CANVAS_TEXT = re.compile(r"\w+_\d+_(text|link)\.html")
MOODLE = re.compile(
    r"(?P<name>.+?)(_(?P<number>\d+))?_assignsubmission_(?P<kind>[a-z]+)_(?P<file>.*)"
)
NAMELESS = {"anon", "Participant"}


@dataclass(frozen=True)
class Owner:
    """Whom an LMS or a path names: a name, and the number that the LMS gave."""

    name: str
    lms: str = ""
    number: str = ""

    @property
    def key(self) -> tuple:
        """What is the same for all files of one person."""
        return (self.lms, self.number or self.name)

    def __str__(self) -> str:
        return f"{self.name} ({self.number})" if self.number else self.name


@dataclass(frozen=True)
class Arrival:
    """A file, who handed it in, and its place in their submission.

    ``attempt`` names the folder or zip that it came in, ``order`` is Canvas's number
    of the file, ``late`` is what Canvas says, ``guessed`` that the owner might be
    another, ``stock`` that nbgrader laid it out.
    """

    entry: Entry
    owner: Owner
    inner: tuple[str, ...]
    attempt: str = ""
    order: int = 0
    late: bool | None = None
    guessed: bool = False
    stock: bool = False


def arrival(entry: Entry, assignment: str, notebooks: list[str]) -> Arrival:
    """Tell who handed a file in; raise CourseError when its path does not say.

    Only the first part of the path counts: what is below is its author's to name.
    """
    first, *rest = entry.path
    if match := MOODLE.fullmatch(first):
        return _moodle(entry, match, rest)
    if len(rest) > 1 and rest[0] == assignment:
        inner = composed(rest[1:])
        return Arrival(entry, Owner(first), inner, f"{first}/{assignment}", stock=True)
    if rest:
        return Arrival(entry, Owner(first), composed(rest), first)
    return _from_file_name(entry, first, assignment, notebooks)


def _moodle(entry: Entry, match: re.Match, rest: list[str]) -> Arrival:
    inner = composed((*filter(None, [match["file"]]), *rest))
    if match["kind"] != "file" or not inner:
        raise CourseError("is a text typed into Moodle, no file")
    return Arrival(entry, Owner(match["name"], "moodle", match["number"] or ""), inner)


def _from_file_name(entry, name: str, assignment: str, notebooks) -> Arrival:
    """Tell who handed in a file that lies in no folder."""
    if match := CANVAS_NAMELESS.fullmatch(name) or CANVAS.fullmatch(name):
        owner = Owner(match["name"], "canvas", match["number"])
        late, order = bool(match["late"]), int(match["order"])
        inner = composed((match["file"],))
        return Arrival(entry, owner, inner, order=order, late=late)
    if CANVAS_TEXT.fullmatch(name):
        raise CourseError("is a text or a link typed into Canvas, no file")
    stem, is_zip = name[:-4], name.lower().endswith(".zip")
    for known in [assignment, *(n.removesuffix(".ipynb") for n in notebooks)]:
        if match := re.fullmatch(f"(.+)_({re.escape(known)}.*)", name, re.IGNORECASE):
            return Arrival(entry, Owner(match[1]), (match[2],))
    if is_zip:
        return Arrival(entry, Owner(stem), (name,), name)
    if name.lower().endswith(".ipynb") and name.count("_") == 1 and name[0] != "_":
        student, file = name.split("_")
        return Arrival(entry, Owner(student), (file,), guessed=True)
    raise CourseError(
        "does not say who handed it in: expected STUDENT/FILE or "
        f"STUDENT_{notebooks[0] if notebooks else 'FILE'}"
    )


def is_download(paths: list[tuple[str, ...]]) -> bool:
    """Tell whether paths are those of an LMS's download, of several students."""
    found = [CANVAS.fullmatch(path[-1]) for path in paths]
    students = {match["number"] for match in found if match}
    return len(students) > 1 or any(MOODLE.fullmatch(p) for path in paths for p in path)


def wrapping(
    entries: list[Entry],
    assignment: str,
    notebooks: list[str],
    is_student: Callable[[str], bool],
) -> list[str]:
    """Name the folders that lie around all submissions, such as a download's own.

    The folder of a student of the class is none of them.
    """
    around: list[str] = []
    paths = [entry.path for entry in entries]
    while _is_wrapped(paths, assignment, notebooks) and not is_student(paths[0][0]):
        around.append(paths[0][0])
        paths = [path[1:] for path in paths]
    return around


def _is_wrapped(paths, assignment: str, notebooks: list[str]) -> bool:
    """Tell whether the one top folder holds many submissions, and is not one."""
    tops = {path[0] for path in paths}
    if len(tops) != 1 or any(len(path) < 2 for path in paths):
        return False
    if MOODLE.fullmatch(tops.pop()) or any(path[1] == assignment for path in paths):
        return False
    files = {path[1] for path in paths if len(path) == 2}
    folders = {path[1] for path in paths if path[-1].endswith((".ipynb", ".zip"))}
    many = len(files | folders) > 1
    return many and all(_names_a_student(file, notebooks) for file in files)


def _names_a_student(name: str, notebooks: list[str]) -> bool:
    stems = "|".join(re.escape(n.removesuffix(".ipynb")) for n in notebooks)
    return bool(
        CANVAS.fullmatch(name)
        or CANVAS_NAMELESS.fullmatch(name)
        or CANVAS_TEXT.fullmatch(name)
        or MOODLE.fullmatch(name)
        or name.lower().endswith(".zip")
        or (stems and re.fullmatch(f".+_({stems}).*", name, re.IGNORECASE))
    )
