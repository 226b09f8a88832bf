"""The few Linux calls that Python has no function for."""

import ctypes
import os
import platform
import struct

LIBC = ctypes.CDLL(None, use_errno=True)

NEWNS, NEWUTS, NEWIPC = 0x20000, 0x4000000, 0x8000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
READ_ONLY, NO_SUID, NO_DEV, REMOUNT, BIND = 1, 2, 4, 32, 4096
RECURSIVE, PRIVATE, DETACH = 16384, 1 << 18, 2

SET_DEATH_SIGNAL, SET_DUMPABLE, DROP_BOUND, SET_SECUREBITS = 1, 4, 24, 28
NO_NEW_PRIVS, SET_SECCOMP = 38, 22

NAMESPACES = NEWNS | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET | 0x2000000  # cgroup
FAMILIES = (1, 2, 10, 16)  # of sockets: by path, IPv4, IPv6, netlink
X32 = 0x40000000  # the numbers of a second set of system calls begin here
CLONE3 = 435
ALLOW, REFUSE, UNKNOWN, KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000

#: System calls that a kernel never needs: they change namespaces, mounts or other
#: processes, load code into the kernel, or hold memory that belongs to no process.
#: By machine: its mark, the numbers of ``clone`` and ``socket``, and the number of
#: each of these calls.
DENIED = {
    "x86_64": (0xC000003E, 56, 41, (
        29, 64, 68, 101, 155, 161, 165, 166, 167, 168, 169, 175, 176, 246, 248,
        249, 250, 272, 298, 303, 304, 308, 310, 311, 312, 313, 319, 320, 321,
        323, 425, 426, 427, 428, 429, 430, 431, 432, 433, 442, 447,
    )),
    "aarch64": (0xC00000B7, 220, 198, (
        39, 40, 41, 51, 97, 104, 105, 106, 117, 142, 186, 190, 194, 217, 218,
        219, 224, 225, 241, 264, 265, 268, 270, 271, 272, 273, 279, 280, 282,
        294, 425, 426, 427, 428, 429, 430, 431, 432, 433, 442, 447,
    )),
}  # fmt: skip


def call(name: str, *args) -> int:
    """Call a function of libc; raise OSError with its reason when it fails."""
    result = getattr(LIBC, name)(*args)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    """Leave the namespaces of the parent."""
    call("unshare", flags)


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = ""):
    """Mount something; empty texts stand for none."""
    texts = [text.encode() if text else None for text in (source, target, kind)]
    call("mount", *texts, ctypes.c_ulong(flags), data.encode() if data else None)


def bind(source: str, target: str, *, writable: bool = False) -> None:
    """Show a file or folder in another place, read-only unless asked otherwise."""
    mount(source, target, flags=BIND | RECURSIVE)
    remount(target, 0 if writable else READ_ONLY)


def remount(target: str, more: int) -> None:
    """Change what may be done with what is shown in a place: READ_ONLY, or 0."""
    mount("", target, flags=BIND | REMOUNT | NO_SUID | NO_DEV | more)


def pivot_root(new: str, old: str) -> None:
    """Make ``new`` the root; the old one is then found under ``old``."""
    number = {"x86_64": 155, "aarch64": 41}[platform.machine()]
    call("syscall", ctypes.c_long(number), new.encode(), old.encode())


def prctl(option: int, value: int = 0, more=0) -> None:
    """Set a property of this process."""
    zero = ctypes.c_ulong(0)
    call("prctl", option, ctypes.c_ulong(value), more or zero, zero, zero)


def drop_capabilities() -> None:
    """Give up every capability, also for programs that are started later."""
    for capability in range(64):
        try:
            prctl(DROP_BOUND, capability)
        except OSError:
            break
    header = struct.pack("II", 0x20080522, 0)
    number = {"x86_64": 126, "aarch64": 91}[platform.machine()]
    call("syscall", ctypes.c_long(number), header, bytes(24))


def deny_dangerous_calls() -> None:
    """Refuse the system calls of ``DENIED`` from here on (seccomp).

    So are new namespaces and sockets that reach further than a network: with EPERM.
    ``clone3``, whose flags no filter can see, does not exist; libc then uses ``clone``.
    """
    program = b"".join(struct.pack("HBBI", *rule) for rule in _rules())
    kept = ctypes.create_string_buffer(program)
    filter_ = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(kept))
    prctl(SET_SECCOMP, 2, ctypes.c_char_p(filter_))


def _rules() -> list[tuple[int, int, int, int]]:
    """Give the filter: each rule names how many of the next ones are skipped."""
    load, equal, above, some, give = 0x20, 0x15, 0x35, 0x45, 0x06
    number, mark, argument = (load, 0, 0, 0), (load, 0, 0, 4), (load, 0, 0, 16)
    machine, clone, sockets, denied = DENIED[platform.machine()]
    rules = [mark, (equal, 1, 0, machine), (give, 0, 0, KILL)]
    rules += [number, (above, 0, 1, X32), (give, 0, 0, REFUSE)]
    for one in denied:
        rules += [(equal, 0, 1, one), (give, 0, 0, REFUSE)]
    rules += [(equal, 0, 1, CLONE3), (give, 0, 0, UNKNOWN)]
    rules += [(equal, 0, 3, clone), argument, (some, 0, 1, NAMESPACES)]
    rules += [(give, 0, 0, REFUSE), number, (equal, 0, len(FAMILIES) + 2, sockets)]
    rules.append(argument)
    for place, family in enumerate(FAMILIES):
        rules.append((equal, len(FAMILIES) - place, 0, family))
    return [*rules, (give, 0, 0, REFUSE), (give, 0, 0, ALLOW)]
