"""Of all that a student handed in: the newest attempt, and the files it is made of."""

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from autograder.archive import Entry, Refused, composed, inner_entries
from autograder.errors import CourseError
from autograder.lms import Arrival, Owner, is_download
from autograder.mend import FILES, SUBMISSION_BYTES, time_in

STAMP = "timestamp.txt"


@dataclass
class Attempt:
    """The newest attempt of one student.

    Whose it is, its files by path, when it came if that is known, Canvas's number of
    its last file, what was left out as older, and what was refused.
    """

    owner: Owner
    files: dict[tuple[str, ...], Entry] = field(default_factory=dict)
    time: datetime | None = None
    order: int = 0
    older: list[str] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)


def newest(
    handed_in: list[Arrival], released: list[str], due: datetime | None
) -> Attempt:
    """Find a student's newest attempt: zips unpacked, and kept within the bounds.

    ``released`` names the files that students got. Raises CourseError when nothing
    says which attempt is the newest.
    """
    if handed_in[0].owner.lms == "canvas":
        kept = _newest_of_canvas(handed_in, set(released))
    else:
        kept = _newest_by_date(handed_in)
    last = max(file.order for file in kept)
    attempt = Attempt(handed_in[0].owner, time=_time_of(kept), order=last)
    entries = {id(file.entry) for file in kept}
    attempt.older += [str(f.entry) for f in handed_in if id(f.entry) not in entries]
    _choose(_placed(kept, attempt), attempt)
    _date(kept, due, attempt)
    return attempt


# --- which files ----------------------------------------------------------------------


def _newest_of_canvas(group: list[Arrival], released: set[str]) -> list[Arrival]:
    """Keep what came with the newest version of a file that was handed in again.

    Canvas gives such a file the number of the resubmission, and each file a higher
    number than those before it. The files get the names back that they had.
    """
    names = {file.inner[0] for file in group}
    numbers = {_again(name)[1] for name in names if _again(name)[0] in released}
    versions: dict[str, list[tuple[int, int, Arrival]]] = defaultdict(list)
    for file in group:
        name, number = file.inner[0], 0
        bare, again = _again(name)
        known = bare in released or bare in names or again in numbers
        if again and known and name not in released:
            name, number = bare, again
        versions[name].append((number, file.order, replace(file, inner=(name,))))
    last = {name: max(found, key=_version) for name, found in versions.items()}
    twice = [last[name] for name, found in versions.items() if len(found) > 1]
    top = max((number for number, _, _ in twice), default=0)
    start = min((order for number, order, _ in twice if number == top), default=0)
    return [file for _, order, file in last.values() if order >= start]


def _version(version: tuple[int, int, Arrival]) -> tuple[int, int]:
    return version[:2]


def _again(name: str) -> tuple[str, int]:
    """Split Canvas's number of a resubmission off a file's name; 0 if there is none."""
    match = re.fullmatch(r"(.+)-(\d{1,4})(\.\w+)?", name)
    return (match[1] + (match[3] or ""), int(match[2])) if match else (name, 0)


def _newest_by_date(group: list[Arrival]) -> list[Arrival]:
    """Keep the folder or the zip with the newest date, if there are several."""
    attempts: dict[str, list[Arrival]] = defaultdict(list)
    for file in group:
        attempts[file.attempt].append(file)
    if len(attempts) == 1:
        return group
    times = {name: _time_of(files) for name, files in attempts.items()}
    last = max(filter(None, times.values()), default=None)
    found = [name for name, time in times.items() if time == last]
    if None in times.values() or len(found) > 1:
        raise CourseError(
            f"no date says which of {len(attempts)} attempts is the newest: remove the "
            "older ones"
        )
    return attempts[found[0]]


# --- what is in them ------------------------------------------------------------------


def _placed(files: list[Arrival], attempt: Attempt) -> dict[tuple, list[Entry]]:
    """Say for each path in the submission which files could lie there."""
    placed: dict[tuple[str, ...], list[Entry]] = defaultdict(list)
    for file in files:
        if file.inner[-1].lower().endswith(".zip"):
            for inner, entry in _unpacked(file, attempt):
                placed[inner].append(entry)
        elif file.stock or file.inner[0] != STAMP:  # not for its author to say
            placed[file.inner].append(file.entry)
    return placed


def _unpacked(file: Arrival, attempt: Attempt) -> list[tuple[tuple[str, ...], Entry]]:
    """Unpack a zip that was handed in, one level."""
    name = str(file.entry)
    try:
        entries, refused = inner_entries(file.entry.read())
        if is_download([entry.path for entry in entries]):
            raise CourseError("is a download of many submissions: collect it by itself")
    except CourseError as error:
        attempt.refused.append(Refused(name, str(error)))
        return []
    attempt.refused += [Refused(f"{name}/{one.what}", one.why) for one in refused]
    tops = {entry.path[0] for entry in entries}
    alone = len(tops) == 1 and all(len(entry.path) > 1 for entry in entries)
    found = []
    for entry in entries:
        inner = (*file.inner[:-1], *composed(entry.path[alone:]))
        entry = replace(entry, path=(*file.entry.path, *entry.path))
        if inner[-1].lower().endswith(".zip"):
            attempt.refused.append(Refused(str(entry), "is a zip inside a zip"))
        elif inner[0] != STAMP:
            found.append((inner, entry))
    return found


def _choose(placed: dict[tuple, list[Entry]], attempt: Attempt) -> None:
    """Take one file for each path, notebooks first, within the bounds."""
    folders = {inner[:end] for inner in placed for end in range(1, len(inner))}
    size = over = 0
    for inner in sorted(placed, key=_notebooks_first):
        *older, entry = sorted(placed[inner], key=_seconds)
        attempt.older += map(str, older)
        if inner in folders:
            why = "is a file where a folder is too"
            attempt.refused.append(Refused(str(entry), why))
        elif size + entry.size > SUBMISSION_BYTES:
            why = f"goes over {SUBMISSION_BYTES / 1e6:.0f} MB for one submission"
            attempt.refused.append(Refused(str(entry), why))
        elif len(attempt.files) == FILES:
            over += 1
        else:
            attempt.files[inner] = entry
            size += entry.size
    if over:
        why = f"has {over} files over {FILES}"
        attempt.refused.append(Refused(str(attempt.owner), why))


def _notebooks_first(inner: tuple[str, ...]) -> tuple:
    return (not inner[-1].endswith(".ipynb"), inner)


def _seconds(entry: Entry) -> float:
    return entry.time.timestamp() if entry.time else 0.0


# --- when it came ---------------------------------------------------------------------


def _date(files: list[Arrival], due: datetime | None, attempt: Attempt) -> None:
    """Find out when the attempt came; a date that Canvas contradicts does not count.

    Canvas says itself what was late, but not by how much, and dates its files by the
    download. So what is late came one second late.
    """
    if stamp := attempt.files.get((STAMP,)):  # nbgrader's own
        attempt.time = time_in(stamp.read())
        if attempt.time is None:
            del attempt.files[STAMP,]
    if attempt.time and due and files[0].late is not None:
        late = any(file.late for file in files)
        if late != (attempt.time.astimezone(UTC) > due):
            attempt.time = None
        elif late:
            attempt.time = due + timedelta(seconds=1)


def _time_of(files: list[Arrival]) -> datetime | None:
    return max((f.entry.time for f in files if f.entry.time), default=None)
