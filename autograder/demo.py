"""A demonstration class: every kind of learner that the course knows of.

Its submissions are made from the exercise itself: the reference, the wrong answers,
the right answers written differently, and the untouched notebook.
"""

import copy
import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path

import nbformat

from autograder.classroom import Classroom
from autograder.errors import CourseError
from autograder.exercise import Exercise
from autograder.results import write_whole
from exercises.answers import Answer

DUE = datetime(2027, 3, 12, 23, 59, tzinfo=UTC)
WRONG_STUDENTS = 26
NAMES = [
    "kim-minji",
    "lee-junho",
    "park-seoyeon",
    "choi-dohyun",
    "jung-hana",
    "kang-jiwoo",
    "cho-yuna",
    "yoon-taeyang",
    "jang-sora",
    "lim-hyun",
    "han-bora",
    "oh-minseok",
    "seo-yerin",
    "shin-donghae",
    "kwon-nari",
    "hwang-jisoo",
    "ahn-gyuri",
    "song-minho",
    "ryu-eunji",
    "hong-jinho",
    "amira-haddad",
    "ben-carter",
    "chloe-dubois",
    "diego-ramos",
    "elif-kaya",
    "farid-nazari",
    "grace-okafor",
    "hiro-tanaka",
    "ines-costa",
    "jonas-weber",
    "kofi-mensah",
    "lena-novak",
    "mateo-silva",
    "nadia-rahman",
    "oskar-lind",
    "priya-iyer",
    "quinn-murphy",
    "rosa-bianchi",
    "samuel-levi",
    "tuva-berg",
]
ESSAY = (
    "The layer compares vectors with vectors, and the place of a token plays no part "
    "in that. So both sentences give the same output vectors, only in another order. "
    "Something that says the position must be added to the tokens."
)


@dataclass(frozen=True)
class Learner:
    """One learner of the demonstration class, and what they hand in."""

    id: str
    kind: str
    answers: dict[str, str]
    written: str = ESSAY
    handed_in: datetime = DUE - timedelta(hours=20)
    earlier: dict[str, str] | None = field(default=None)


def make_class(
    classroom: Classroom, exercise: Exercise, students: int | None = None
) -> list[Learner]:
    """Hand in the work of a whole class: about forty learners, or as many as asked.

    Returns the learners. Raises CourseError when the exercise is not released.
    """
    released = classroom.root / "release" / exercise.name
    path = released / f"{exercise.notebook}.ipynb"
    if not path.exists():
        raise CourseError(f"{exercise.name} is not released in {classroom.root}.")
    notebook = nbformat.read(path, as_version=4)
    learners = enrolled(invent(exercise), students)
    for learner in learners:
        folder = classroom.root / "submitted" / learner.id / exercise.name
        _hand_in(notebook, learner, learner.answers, folder / path.name)
        if learner.earlier is not None:
            first = folder / f"{exercise.notebook}-first-try.ipynb"
            _hand_in(notebook, learner, learner.earlier, first)
    return learners


def fill_in(notebook, answers: dict[str, str], written: str = ""):
    """Give a copy of a released notebook with its answers filled in, by grade id."""
    filled = copy.deepcopy(notebook)
    for cell in filled.cells:
        about = cell.metadata.get("nbgrader", {})
        if about.get("solution") and about.get("grade") and written:
            cell.source = written
        elif about.get("solution") and about["grade_id"] in answers:
            cell.source = answers[about["grade_id"]]
    return filled


def right_answers(exercise: Exercise) -> dict[str, str]:
    """Give the reference's answer to every cell, by grade id."""
    given = [cell for cell in exercise.written.cells if "answer" in cell.metadata]
    lines = {c.metadata["answer"]: c.source for c in given}
    return exercise.pieces | lines


def invent(exercise: Exercise) -> list[Learner]:
    """Make up the class: right, wrong in every known way, late, unfinished ..."""
    right = right_answers(exercise)
    half = dict(list(right.items())[: len(right) // 2])
    broken = right | {next(iter(right)): "def softmax(scores)\n    return scores"}
    plain = [
        ("right", right, {}),
        ("right", right, {}),
        *(
            ("right, differently", right | other, {})
            for other in _dealt_right(exercise)
        ),
        *(("mistakes", right | wrong, {}) for wrong in _dealt_wrong(exercise)),
        ("blank", {}, {"written": ""}),
        ("half done", half, {"written": ""}),
        ("a syntax error", broken, {}),
        ("late", right, {"handed_in": DUE + timedelta(hours=5)}),
        ("two attempts", right, {"earlier": half}),
    ]
    return [
        Learner(name, kind, answers, **more)
        for name, (kind, answers, more) in zip(NAMES, plain, strict=False)
    ]


def enrolled(learners: list[Learner], students: int | None) -> list[Learner]:
    """Make the class as large as asked: its kinds of learners come round and round."""
    count = len(learners) if students is None else students
    more = (
        replace(learner, id=f"student-{number:05d}")
        for number, learner in zip(
            range(len(learners) + 1, count + 1), cycle(learners), strict=False
        )
    )
    return [*learners[:count], *more]


def _dealt_wrong(exercise: Exercise) -> list[dict[str, str]]:
    """Deal all wrong answers out to the learners, at most one for each piece."""
    hands: list[dict[str, str]] = [{} for _ in range(WRONG_STUDENTS)]
    return _deal(exercise.misconceptions, hands)


def _dealt_right(exercise: Exercise) -> list[dict[str, str]]:
    return _deal(exercise.alternatives, [{} for _ in range(4)])


def _deal(answers: list[Answer], hands: list[dict[str, str]]) -> list[dict[str, str]]:
    """Give each answer to the learner with the fewest who has none to its piece."""
    for answer in answers:
        free = [hand for hand in hands if answer.piece not in hand] or hands
        min(free, key=len)[answer.piece] = answer.source
    return hands


def _hand_in(notebook, learner: Learner, answers: dict, path: Path) -> None:
    """Write one notebook, and the time at which it was handed in."""
    filled = fill_in(notebook, answers, learner.written)
    write_whole(path, json.dumps(filled, indent=1))
    stamp = learner.handed_in.strftime("%Y-%m-%d %H:%M:%S UTC")
    write_whole(path.with_name("timestamp.txt"), stamp)
