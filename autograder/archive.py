"""Read a folder or a zip that came from elsewhere; nothing in it is trusted."""

import os
import re
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from io import BytesIO
from pathlib import Path

from autograder.errors import CourseError
from autograder.mend import FILE_BYTES, NOTEBOOK_BYTES
from autograder.texts import first_line

ZIP_BYTES, ZIP_FILES = NOTEBOOK_BYTES, 10_000  # of a zip inside the source
RATIO, SMALL = 200, 1_000_000  # how much smaller than its content a zip may be
NAME_BYTES, DEPTH = 200, 20
NO_DATE = (1980, 1, 1, 0, 0, 0)
LEFT_BY_MACHINES = {
    "__MACOSX",
    "__pycache__",
    ".ipynb_checkpoints",
    ".git",
    "Thumbs.db",
    "desktop.ini",
}


@dataclass(frozen=True)
class Entry:
    """One file of a source: its path, its size, when it came, how to read it."""

    path: tuple[str, ...]
    size: int
    time: datetime | None
    read: Callable[[], bytes]

    def __str__(self) -> str:
        return "/".join(self.path)


@dataclass(frozen=True)
class Refused:
    """Something that is not taken, and why."""

    what: str
    why: str


@dataclass
class Listing:
    """The files that are found in a source, and what is refused of it."""

    entries: list[Entry] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)

    def add(self, name: str, entry: Entry, why: str) -> None:
        """Take a file, or refuse it; leave out what machines leave behind."""
        if wrong := wrong_name(name):
            self.refused.append(Refused(name, wrong))
        elif any(p.startswith("._") or p in LEFT_BY_MACHINES for p in entry.path):
            return
        elif any(part.startswith(".") for part in entry.path):
            if entry.path[-1].endswith((".ipynb", ".zip")):
                self.refused.append(Refused(name, "is hidden: begins with a dot"))
        elif wrong := why or wrong_size(entry):
            self.refused.append(Refused(name, wrong))
        else:
            self.entries.append(entry)

    def unread(self, error: OSError) -> None:
        """Refuse a folder that cannot be listed."""
        self.refused.append(Refused(str(error.filename), str(error.strerror)))


@contextmanager
def opened(source: Path) -> Iterator[tuple[list[Entry], list[Refused]]]:
    """Give the files of a folder or a zip, and what is refused of them.

    Raises CourseError when the source is neither.
    """
    source = Path(source)
    if source.is_dir():
        yield folder_entries(source)
        return
    if not source.is_file():
        raise CourseError(f"There is no folder or zip {source}.")
    try:
        archive = zipfile.ZipFile(source)
    except Exception as error:  # zipfile raises many kinds
        raise CourseError(
            f"{source} cannot be read as a zip: {first_line(error)}. Expected a "
            "folder or a zip of submissions; download it again."
        ) from error
    with archive:
        yield zip_entries(archive)


def folder_entries(root: Path) -> tuple[list[Entry], list[Refused]]:
    """List the plain files of a folder, sorted by path, and refuse the others."""
    found = Listing()
    for place, folders, names in os.walk(root, onerror=found.unread):
        folders.sort()
        links = [name for name in folders if Path(place, name).is_symlink()]
        for name in sorted(names) + links:
            path = Path(place, name)
            about = path.lstat()
            relative = path.relative_to(root).as_posix()
            time, read = _changed(about), partial(_read_file, path)
            entry = Entry(parts_of(relative), about.st_size, time, read)
            found.add(relative, entry, wrong_kind(about.st_mode))
    return found.entries, found.refused


def zip_entries(archive: zipfile.ZipFile) -> tuple[list[Entry], list[Refused]]:
    """List the plain files of a zip, in its order, and refuse the others."""
    found = Listing()
    for info in archive.infolist():
        name = _name(info)
        if name.endswith(("/", "\\")) and not wrong_name(name):
            continue
        read = partial(_read, archive, info)
        entry = Entry(parts_of(name), info.file_size, _date(info), read)
        why = wrong_kind(info.external_attr >> 16) or wrong_packing(info)
        found.add(name, entry, why)
    return found.entries, found.refused


def inner_entries(data: bytes) -> tuple[list[Entry], list[Refused]]:
    """List the files of a zip that lies in the source.

    Raises CourseError saying why it cannot be unpacked.
    """
    if data.count(b"PK\x01\x02") > ZIP_FILES:
        raise CourseError(f"holds more than {ZIP_FILES} files")
    try:
        return zip_entries(zipfile.ZipFile(BytesIO(data)))
    except Exception as error:  # zipfile raises many kinds
        raise CourseError(f"cannot be unpacked: {first_line(error)}") from error


def wrong_name(name: str) -> str:
    """Say what is wrong with the name of a file or a folder; nothing if all is well."""
    parts = parts_of(name)
    if any(unicodedata.category(c) in {"Zl", "Zp"} or _unseen(c) for c in name):
        return "its name holds a character that cannot be seen"
    if name.startswith(("/", "\\")) or re.match("[A-Za-z]:", name):
        return "its path is absolute"
    if ".." in parts:
        return "its path leads out of its folder"
    if re.search(r"[*?\[\]]", name):
        return "its name holds one of * ? [ ]"
    if not parts:
        return "it has no name"
    if len(parts) > DEPTH or any(len(part.encode()) > NAME_BYTES for part in parts):
        return "its name is too long"
    return ""


def parts_of(name: str) -> tuple[str, ...]:
    """Split a path into its parts; a Windows path too."""
    parts = name.replace("\\", "/").split("/")
    return tuple(part for part in parts if part not in {"", "."})


def composed(path: Iterable[str]) -> tuple[str, ...]:
    """Give a path in the usual form of Unicode; macOS writes another."""
    return tuple(unicodedata.normalize("NFC", part) for part in path)


def wrong_kind(mode: int) -> str:
    """Say why something is no plain file; nothing if it is one."""
    if stat.S_ISLNK(mode):
        return "is a link"
    known = stat.S_IFMT(mode)  # a zip need not say
    return "" if not known or stat.S_ISREG(mode) else "is not a plain file"


def wrong_packing(info: zipfile.ZipInfo) -> str:
    """Say why an entry of a zip is not to be unpacked; nothing if it is."""
    if info.flag_bits & 1:
        return "is encrypted"
    if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        return "is packed in a way that is not read here"
    times = info.file_size // max(info.compress_size, 1)
    if info.file_size > SMALL and times > RATIO:
        return f"unpacks to {times} times its size"
    return ""


def wrong_size(entry: Entry) -> str:
    """Say that a file is too large; nothing if it is not."""
    limits = {".ipynb": NOTEBOOK_BYTES, ".zip": ZIP_BYTES}
    if entry.size > limits.get(Path(entry.path[-1]).suffix.lower(), FILE_BYTES):
        return f"is too large: {entry.size / 1e6:.0f} MB"
    return ""


def _unseen(character: str) -> bool:
    return unicodedata.category(character).startswith("C")


def _changed(about: os.stat_result) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(about.st_mtime)).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def _read_file(path: Path) -> bytes:
    """Read one file; raise CourseError saying why it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CourseError(f"cannot be read: {error.strerror}") from error


def _name(info: zipfile.ZipInfo) -> str:
    """Give the name of an entry; many programs write UTF-8 and do not say so."""
    name = info.orig_filename
    if not info.flag_bits & 0x800:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name


def _date(info: zipfile.ZipInfo) -> datetime | None:
    """Give the date of an entry, which is local time; None when it holds none."""
    if info.date_time == NO_DATE:
        return None
    try:
        return datetime(*info.date_time).astimezone()
    except (ValueError, OverflowError):
        return None


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Read one entry; raise CourseError saying why it cannot be read."""
    try:
        with archive.open(info) as file:
            return file.read(info.file_size)
    except Exception as error:  # zipfile and its decompressors raise many kinds
        raise CourseError(f"cannot be read: {first_line(error)}") from error
