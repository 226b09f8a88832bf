"""The jail of one student kernel: what it sees, what it may use, and its end.

``enter`` turns the calling process into the supervisor of a new jail, the first
process of its own world, and runs the kernel as its child. The supervisor keeps the
limits, and when it ends, everything in the jail ends with it.
"""

import contextlib
import json
import os
import re
import resource
import select
import shutil
import signal
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autograder.sandbox import linux

HOME = "/home/student"
COPIED_BYTES, COPIED_FILES = 64_000_000, 1000
FIRST_UID = 200_000
NOT_FOR_ANSWERS = (".ipynb", "/timestamp.txt")  # of what was handed in
PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SETTINGS = ("/etc/ld.so.cache", "/etc/fonts", "/etc/localtime", "/etc/alternatives")


@dataclass(frozen=True)
class Limits:
    """What one kernel may use. Seconds, bytes and counts."""

    memory: int = 4_000_000_000
    address_space: int = 16_000_000_000
    processes: int = 256
    file_size: int = 200_000_000
    disk: int = 256_000_000
    sockets: int = 200
    cpu_seconds: float = 600.0
    wall_seconds: float = 1800.0


@dataclass
class Jail:
    """What to put into a jail: folders to show, files to copy, limits."""

    shown: list[str]
    run_folder: str
    work: str = ""
    hidden: list[str] = field(default_factory=list)
    limits: Limits = field(default_factory=Limits)
    uid: int = FIRST_UID


def enter(jail: Jail, control: socket.socket, kernel: Callable[[], None]) -> None:
    """Build the jail around this process and run ``kernel`` in it; never returns.

    The exit is told over ``control`` as JSON: ``{"exit": status, "why": reason}``.
    """
    _leave_namespaces()
    if child := os.fork():
        control.close()
        os._exit(0 if child else 1)
    _build_root(jail)
    linux.prctl(linux.SET_DUMPABLE, 0)
    child = os.fork()
    if child == 0:
        _become_student(jail)
        control.close()
        kernel()
        os._exit(0)
    # the kernel has its sockets when it may begin: then nothing more is written there
    close = lambda: linux.remount(jail.run_folder, linux.READ_ONLY)
    supervise(child, control, Budget(jail.limits, close))
    os._exit(0)


def _leave_namespaces() -> None:
    """Leave the host's namespaces; an ordinary user gets one in which it is root."""
    flags = linux.NEWNS | linux.NEWPID | linux.NEWNET | linux.NEWIPC | linux.NEWUTS
    uid, gid = os.getuid(), os.getgid()
    if uid != 0:
        linux.unshare(linux.NEWUSER | flags)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
        Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
    else:
        linux.unshare(flags)


# --- what it sees ---------------------------------------------------------------------


def _build_root(jail: Jail) -> None:
    """Make a root of its own: programs read-only, one folder to work in, no more."""
    linux.mount("", "/", flags=linux.RECURSIVE | linux.PRIVATE)
    root = next(path for path in ("/mnt", "/srv", "/media") if os.path.isdir(path))
    linux.mount(
        "tmpfs", root, "tmpfs", linux.NO_SUID | linux.NO_DEV, "size=8m,mode=755"
    )
    _tmpfs(root + "/tmp", jail.limits.disk, "1777")
    _tmpfs(root + HOME, jail.limits.disk, "755")
    for path in (*PROGRAMS, *jail.shown, *SETTINGS):
        _show(path, root)
    for path in jail.hidden:
        if os.path.isdir(root + path):
            _tmpfs(root + path, 4096, "755")
    os.makedirs(root + jail.run_folder, exist_ok=True)
    linux.bind(jail.run_folder, root + jail.run_folder, writable=True)
    _give(root + jail.run_folder, jail.uid)
    _devices(root)
    _accounts(root)
    if jail.work:
        copy_files(jail.work, root + HOME)
    _give(root + HOME, jail.uid)
    _move_in(root)


def _move_in(root: str) -> None:
    """Make ``root`` the root of this world, read-only, and let go of the old one."""
    os.makedirs(root + "/proc", exist_ok=True)
    linux.mount("proc", root + "/proc", "proc", linux.NO_SUID | linux.NO_DEV)
    os.makedirs(root + "/.old")
    linux.pivot_root(root, root + "/.old")
    os.chdir("/")
    linux.call("umount2", b"/.old", linux.DETACH)
    os.rmdir("/.old")
    linux.mount("", "/", flags=linux.REMOUNT | linux.READ_ONLY | linux.NO_SUID)
    with contextlib.suppress(OSError):
        _loopback()


def _show(path: str, root: str) -> None:
    """Show a path of the host, read-only; a link stays the link that it is."""
    target = root + path
    if os.path.islink(path):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.symlink(os.readlink(path), target)
    elif os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
        linux.bind(path, target)
    elif os.path.exists(path):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        Path(target).touch()
        linux.bind(path, target)


def _tmpfs(path: str, size: int, mode: str) -> None:
    os.makedirs(path, exist_ok=True)
    options = f"size={size},mode={mode},nr_inodes=20000"
    linux.mount("tmpfs", path, "tmpfs", linux.NO_SUID | linux.NO_DEV, options)


def _devices(root: str) -> None:
    os.makedirs(root + "/dev/shm")
    for name in ("null", "zero", "full", "random", "urandom"):
        Path(f"{root}/dev/{name}").touch()
        linux.mount(f"/dev/{name}", f"{root}/dev/{name}", flags=linux.BIND)
    _tmpfs(root + "/dev/shm", 64_000_000, "1777")
    os.makedirs(root + "/dev/pts")
    with contextlib.suppress(OSError):  # for `!command` in a notebook
        options = "newinstance,ptmxmode=0666,mode=620"
        linux.mount("devpts", root + "/dev/pts", "devpts", linux.NO_SUID, options)
        os.symlink("pts/ptmx", root + "/dev/ptmx")
    for name, target in (
        ("fd", "/proc/self/fd"),
        ("stdin", "fd/0"),
        ("stdout", "fd/1"),
    ):
        os.symlink(target, f"{root}/dev/{name}")


def _accounts(root: str) -> None:
    Path(root + "/etc").mkdir(exist_ok=True)
    entry = f"student:x:{FIRST_UID}:{FIRST_UID}::{HOME}:/bin/sh\n"
    Path(root + "/etc/passwd").write_text("root:x:0:0::/:/bin/false\n" + entry)
    Path(root + "/etc/hosts").write_text("127.0.0.1 localhost\n")


def copy_files(source: str, target: str) -> None:
    """Copy the plain files of a submission except notebooks, within bounds."""
    left, count = COPIED_BYTES, COPIED_FILES
    for path, size in files_beside(source):
        if size <= left and count > 0:
            inside = os.path.join(target, os.path.relpath(path, source))
            os.makedirs(os.path.dirname(inside), exist_ok=True)
            shutil.copyfile(path, inside, follow_symlinks=False)
            left, count = left - size, count - 1


def files_beside(source: str) -> Iterator[tuple[str, int]]:
    """Give the plain files of a submission and their sizes, except its notebooks."""
    for folder, folders, names in os.walk(source):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (os.path.join(folder, name) for name in names):
            about = os.lstat(path)
            if stat.S_ISREG(about.st_mode) and not path.endswith(NOT_FOR_ANSWERS):
                yield path, about.st_size


def _give(folder: str, uid: int) -> None:
    """Let the student own a folder; where there is one user only, it does already."""
    for place, folders, names in os.walk(folder):
        for name in (".", *folders, *names):
            with contextlib.suppress(OSError):
                os.chown(os.path.join(place, name), uid, uid, follow_symlinks=False)


def _loopback() -> None:
    """Bring up the loopback of the empty network, which ipykernel itself uses."""
    import fcntl
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sh14x", b"lo", 0x1 | 0x40)
        fcntl.ioctl(probe, 0x8914, request)


# --- what it may use ------------------------------------------------------------------


def _become_student(jail: Jail) -> None:
    """Give up all rights and take on the limits, for good."""
    os.setsid()
    limits = jail.limits
    for name, value in (
        ("CORE", 0),
        ("FSIZE", limits.file_size),
        ("NPROC", limits.processes),
        ("NOFILE", 1024),
        ("AS", limits.address_space),
    ):
        with contextlib.suppress(ValueError):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
    if os.path.exists("/proc/self/uid_map") and _maps_everybody():
        os.setgroups([])
        os.setresgid(jail.uid, jail.uid, jail.uid)
        os.setresuid(jail.uid, jail.uid, jail.uid)
    if os.getuid() == 0:  # the only user there is: keep it from being root
        linux.prctl(linux.SET_SECUREBITS, 0b101111)
        linux.drop_capabilities()
    linux.prctl(linux.NO_NEW_PRIVS, 1)
    linux.deny_dangerous_calls()
    os.chdir(HOME)
    os.environ |= {"HOME": HOME, "TMPDIR": "/tmp", "USER": "student", "PWD": HOME}


def _maps_everybody() -> bool:
    """Tell whether this namespace knows more users than the one who made it."""
    first, _, count = Path("/proc/self/uid_map").read_text().split()[:3]
    return int(first) == 0 and int(count) > FIRST_UID


# --- its end --------------------------------------------------------------------------


def supervise(kernel: int, control: socket.socket, budget: "Budget") -> None:
    """Keep the limits of a jail until its kernel ends; then end all that is left.

    The grader may send ``{"signal": n}``, ``{"cpu": s, "wall": s}`` (a new allowance,
    from now on) and ``{"report": true}`` (it is told the CPU seconds used). When it
    hangs up, the jail ends.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    why, status = "exit", None
    _tell(control, {"started": True})
    while status is None:
        ready, _, _ = select.select([control], [], [], 0.1)
        if ready and not _obey(control, kernel, budget):
            why = "hung up"
            break
        status = _reap(kernel)
        if status is None and (why := budget.exceeded()):
            break
        why = why or "exit"
    with contextlib.suppress(OSError):
        os.kill(-1, signal.SIGKILL)  # everybody in this world but this process
    _tell(control, {"exit": -9 if status is None else status, "why": why})


class Budget:
    """How much the processes of a jail have used and may use.

    The limits of time are for the whole life of a kernel, from its first allowance on:
    after it the kernel runs what a learner wrote. ``begin`` is called before it.
    """

    def __init__(self, limits: Limits, begin: Callable[[], None] = lambda: None):
        self.limits = limits
        self.begin = begin
        self.begun = False
        self._whole()

    def _whole(self) -> None:
        """Begin to count the time that there is in all."""
        self.cpu_end = self.last_cpu = _used()[0] + self.limits.cpu_seconds
        self.wall_end = self.last_wall = time.monotonic() + self.limits.wall_seconds

    def allow(self, cpu: float, wall: float) -> None:
        """Give a new allowance, counted from now, within what is left in all."""
        if not self.begun:
            self.begun = True
            self.begin()
            self._whole()
        self.cpu_end = min(_used()[0] + cpu, self.last_cpu)
        self.wall_end = min(time.monotonic() + wall, self.last_wall)

    def exceeded(self) -> str:
        """Name the limit that is exceeded, or give an empty text."""
        cpu, memory = _used()
        if cpu > self.cpu_end:
            return "cpu"
        if memory > self.limits.memory and _used(fairly=True)[1] > self.limits.memory:
            return "memory"
        if _sockets() > self.limits.sockets:
            return "sockets"
        return "wall" if time.monotonic() > self.wall_end else ""


def _sockets() -> int:
    """Count the sockets of this world: what waits in them is no process's memory."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/net/sockstat").read_text().split()[2])
    return 0


def _used(fairly: bool = False) -> tuple[float, int]:
    """Add up the CPU seconds and the memory of all processes of this world.

    Memory that several of them share counts in each, or ``fairly``, which takes
    longer, once in all.
    """
    ticks = os.sysconf("SC_CLK_TCK")
    seconds, memory = 0.0, 0
    for name in os.listdir("/proc"):
        if not name.isdigit() or name == "1":
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{name}/stat").read_text().rsplit(")", 1)[1].split()
            seconds += sum(map(int, fields[11:15])) / ticks
            memory += _held(name, fairly)
    return seconds + os.times().children_user + os.times().children_system, memory


def _held(process: str, fairly: bool) -> int:
    """Give the bytes that a process holds, shared ones whole or by its share."""
    about = ""
    if fairly:
        with contextlib.suppress(OSError):  # not every kernel tells
            about = Path(f"/proc/{process}/smaps_rollup").read_text()
    if "Pss_Anon" not in about:
        about = Path(f"/proc/{process}/status").read_text()
    kinds = r"^(?:Rss|Pss_)(?:Anon|Shmem):\s+(\d+) kB"
    return 1024 * sum(map(int, re.findall(kinds, about, re.MULTILINE)))


def _obey(control: socket.socket, kernel: int, budget: Budget) -> bool:
    """Do what the grader says; False when it has hung up."""
    try:
        said = control.recv(4096)
        order = json.loads(said) if said else None
    except (OSError, ValueError):
        order = None
    if order is None:
        return False
    if "signal" in order:
        with contextlib.suppress(OSError):
            os.killpg(kernel, order["signal"])
    if "report" in order:
        _tell(control, {"used": _used()[0]})
    if "cpu" in order:
        budget.allow(order["cpu"], order["wall"])
    return True


def _reap(kernel: int) -> int | None:
    """Collect what has ended; give the kernel's status when it has."""
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == kernel:
                return os.waitstatus_to_exitcode(status)
            if pid == 0:
                return None
    return -9


def _tell(control: socket.socket, message: dict) -> None:
    with contextlib.suppress(OSError):
        control.send(json.dumps(message).encode())


def shown_folders() -> list[str]:
    """List the folders that Python needs: this environment and the one below it."""
    return sorted({sys.prefix, sys.base_prefix, sys.exec_prefix})
