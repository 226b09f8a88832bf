"""Who is who: from the names and numbers of an LMS to the ids of a class."""

import csv
import io
import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, fields
from pathlib import Path

from autograder.archive import parts_of, wrong_name
from autograder.errors import CourseError
from autograder.lms import NAMELESS, Owner


@dataclass(frozen=True)
class Person:
    """One line of a roster: the id in the class, and what an LMS knows them by."""

    id: str
    name: str = ""
    email: str = ""
    canvas_id: str = ""
    moodle_id: str = ""
    sis_user_id: str = ""
    sis_login_id: str = ""
    section: str = ""


COLUMNS = [field.name for field in fields(Person)]


class Roster:
    """The people of a class; finds the one whom an LMS or a path names."""

    def __init__(self, people: list[Person], path: Path):
        self.path = path
        self.people = {person.id: person for person in people}
        self.named: dict[str, set[str]] = defaultdict(set)
        for person in people:
            for name in {person.id, person.email.casefold(), *spellings(person.name)}:
                self.named[name].add(person.id)
            self.named[f"canvas {person.canvas_id}"].add(person.id)
            self.named[f"moodle {person.moodle_id}"].add(person.id)

    def find(self, owner: Owner) -> str:
        """Give a student's id; raise CourseError when there is none, or many."""
        found = self.named[f"{owner.lms} {owner.number}"] if owner.number else set()
        if not found:
            keys = {owner.name, owner.name.casefold(), *spellings(owner.name)}
            found = set().union(*(self.named.get(key, ()) for key in keys))
            if owner.lms == "canvas":  # whose number is for ever; Moodle's is not
                found = {i for i in found if not self.people[i].canvas_id}
        if len(found) == 1:
            return min(found)
        lines = "more than one line" if found else "no line"
        raise CourseError(f"{lines} of {self.path.name} is {owner}")


def read_roster(path: Path) -> Roster:
    """Read a CSV with a column ``id``, and any of name, email, canvas_id, moodle_id.

    Raises CourseError when it cannot be used.
    """
    expected = f"Expected a CSV file in UTF-8 with the columns {', '.join(COLUMNS)}"
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{path} cannot be read: {error}. {expected}.") from error
    first = text.split("\n", 1)[0]
    lines = csv.reader(
        io.StringIO(text, newline=""), delimiter="," if "," in first else ";"
    )
    try:
        header, *rows = [line for line in lines if any(cell.strip() for cell in line)]
    except (ValueError, csv.Error) as error:
        raise CourseError(f"{path} holds no lines. {expected}.") from error
    names = [re.sub(r"\W+", "_", cell.strip().lower()) for cell in header]
    if "id" not in names:
        raise CourseError(
            f"{path} has no column id. {expected}; all but id may be missing."
        )
    people = []
    for row in rows:
        cells = dict(zip(names, (normal(cell) for cell in row), strict=False))
        people.append(Person(**{name: cells.get(name, "") for name in COLUMNS}))
    _check(people, path)
    return Roster(people, Path(path))


def _check(people: list[Person], path: Path) -> None:
    """Raise CourseError when an id cannot be used, or is there twice."""
    seen: set[str] = set()
    for person in people:
        why = wrong_id(person.id)
        if not why and folded(person.id) in seen:
            why = "it is there twice, if only in another spelling"
        if why:
            raise CourseError(
                f"{path} has an id that cannot be used, {person.id!r}: {why}. "
                "Correct that line and run it again."
            )
        seen.add(folded(person.id))


def wrong_id(student: str) -> str:
    """Say why a text cannot be a student's id; nothing if it can."""
    if len(parts_of(student)) > 1 or student != student.strip():
        return "it holds a slash or a space at its ends"
    if student.startswith("."):
        return "it starts with a dot"
    return wrong_name(student)


def safe_id(owner: Owner) -> str:
    """Make an id of a name: lower case, hyphens for spaces, letters of any script.

    Raises CourseError when the name cannot be used. A plain name without spaces is
    an id already.
    """
    name = normal(owner.name)
    if why := wrong_id(name):
        raise CourseError(why)
    if not owner.lms and " " not in name:
        return name
    if owner.name in NAMELESS:
        name = f"{name}-{owner.number}"
    made = "-".join(name.lower().split())
    made = "".join(c for c in made if c in "-_.@" or is_letter(c)).strip("-.")
    if not made:
        raise CourseError("its name holds no letter")
    return made


def is_letter(character: str) -> bool:
    """Tell whether a character is a letter, a mark on one, or a digit."""
    return unicodedata.category(character)[0] in "LMN"


def normal(text: str) -> str:
    """Give a text in one form of Unicode, with plain single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def folded(student: str) -> str:
    """Give what is the same for ids that a file system may take for one."""
    return unicodedata.normalize(
        "NFC", unicodedata.normalize("NFC", student).casefold()
    )


def spellings(name: str) -> set[str]:
    """Spell a name as an LMS may: any word first, no spaces, no capitals."""
    words = re.findall(r"[^\W_]+", normal(name).casefold())
    return {"".join(words[i:] + words[:i]) for i in range(len(words))}
