# SPDX-License-Identifier: GPL-2.0-or-later
"""How much memory a guest gets, and where the file behind it is made.

UML keeps the guest's memory in a file without a name. The file takes room for each page that the
guest touches and gives none back before the guest ends. So all of the memory must fit the caller's
limits.
"""

import os
import re
import resource
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kadence.base.errors import UsageError

MIB = 1 << 20
MINIMUM_BYTES = 64 * MIB
# Every GiB costs some 20 ms and 16 MiB at boot, used or not. A caller that needs more asks for it.
DEFAULT_BYTES = 4096 * MIB

SUFFIXES = {"": 1, "K": 1 << 10, "M": MIB, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True)
class Memory:
    """The memory that a guest gets."""

    size_bytes: int
    directory: Path  # of the file behind it


@dataclass(frozen=True)
class Limit:
    """An upper bound on the guest's memory, and its source."""

    size_bytes: int
    source: str


def parse_size(text: str) -> int:
    """The bytes of a size such as 512M or 2G."""
    match = re.fullmatch(r"(\d+)([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if not match:
        raise UsageError(f"{text!r} is not a size; write it like 512M or 2G")
    return int(match[1]) * SUFFIXES[match[2].upper()]


def choose(requested_bytes: int | None, granted_bytes: int | None = None) -> Memory:
    """Memory as asked for, else as the caller's limits allow; UsageError if they are too low."""
    if requested_bytes is not None and requested_bytes < MINIMUM_BYTES:
        raise UsageError(
            f"{_mib(requested_bytes)} is too little memory for a guest; "
            f"give it at least {_mib(MINIMUM_BYTES)} with --mem"
        )
    limits = [*_limits(asked=requested_bytes is not None)]
    if granted_bytes is not None:
        limits.append(Limit(granted_bytes, "what this step was given"))
    limit = min(limits, key=lambda limit: limit.size_bytes)
    wanted = min(limit.size_bytes, DEFAULT_BYTES) if requested_bytes is None else requested_bytes
    if limit.size_bytes < max(wanted, MINIMUM_BYTES):
        raise UsageError(
            f"a guest needs {_mib(max(wanted, MINIMUM_BYTES))} of memory, but {limit.source} "
            f"allows {_mib(limit.size_bytes)}; ask for less with --mem (at least "
            f"{_mib(MINIMUM_BYTES)}) or raise the limit"
        )
    room = _roomiest(wanted)
    if room.size_bytes < wanted and requested_bytes is None:
        wanted = max(room.size_bytes, MINIMUM_BYTES)
    if room.size_bytes < wanted:
        raise UsageError(
            f"the file behind {_mib(wanted)} of guest memory does not fit "
            f"{', or '.join(map(_described, _directories()))}; ask for less with --mem, or set "
            "TMPDIR to a larger file system from which programs may be executed"
        )
    return Memory(wanted // MIB * MIB, Path(room.source))


def _mib(size_bytes: int) -> str:
    return f"{size_bytes // MIB} MiB"


def _limits(asked: bool) -> Iterator[Limit]:
    """The limits. Unless asked, a guest takes half, and leaves the rest to caches and others."""
    share, part = (1, "") if asked else (2, "half of ")
    yield Limit(_available_bytes() // share, f"{part}this machine's free memory")
    headroom = _cgroup_headroom_bytes()
    if headroom is not None:
        yield Limit(headroom // share, f"{part}what is left in the memory cgroup")
    address_space = resource.getrlimit(resource.RLIMIT_AS)[0]
    if address_space != resource.RLIM_INFINITY:
        # UML maps the guest's memory, its own image and its programs.
        yield Limit(address_space // 2, "half of the limit on address space (ulimit -v)")
    file_size = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if file_size != resource.RLIM_INFINITY:
        yield Limit(file_size, "the limit on file sizes (ulimit -f)")


def _available_bytes() -> int:
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    match = re.search(r"^MemAvailable:\s+(\d+) kB$", text, re.MULTILINE)
    return int(match[1]) << 10 if match else os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")


def _cgroup_headroom_bytes() -> int | None:
    """The least room left in this process's memory cgroup and its parents; None without limits."""
    rooms = [room for group in _memory_cgroups() if (room := _room_of(group)) is not None]
    return min(rooms, default=None)


def _memory_cgroups() -> Iterator[Path]:
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, name = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        root = Path("/sys/fs/cgroup") / ("memory" if controllers else "")
        group = root / name.lstrip("/")
        yield group
        yield from (parent for parent in group.parents if parent.is_relative_to(root))


def _room_of(group: Path) -> int | None:
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        try:
            return max(
                int((group / limit).read_text(encoding="ascii"))
                - int((group / used).read_text(encoding="ascii")),
                0,
            )
        except (OSError, ValueError):  # no such file, or the word "max": no limit
            continue
    return None


def _roomiest(wanted_bytes: int) -> Limit:
    """The first directory with enough room, memory before disk, else the one with most room."""
    best = Limit(-1, tempfile.gettempdir())
    for directory in _directories():
        room = Limit(_free_bytes(directory), str(directory))
        if room.size_bytes >= wanted_bytes:
            return room
        best = max(best, room, key=lambda limit: limit.size_bytes)
    return best


def _directories() -> list[Path]:
    named = os.environ.get("KADENCE_MEMORY_DIRECTORY")
    return [Path(named)] if named else [Path("/dev/shm"), Path(tempfile.gettempdir())]


def _free_bytes(directory: Path) -> int:
    """Bytes for a file that UML can make and execute from; 0 if UML can make none there."""
    if unfit(directory) is not None:
        return 0
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize


def unfit(directory: Path) -> str | None:
    """The reason why UML can make no file there, or not execute from it; None if it can."""
    try:
        os.statvfs(directory)
    except OSError as error:
        return f"can't be used ({error.strerror})"
    if is_noexec(directory):
        return "is mounted noexec"
    return None if os.access(directory, os.W_OK | os.X_OK) else "is not writable by this user"


def is_noexec(directory: Path) -> bool:
    """Whether the file system of a directory is mounted noexec."""
    try:
        return bool(os.statvfs(directory).f_flag & os.ST_NOEXEC)
    except OSError:
        return False


def _described(directory: Path) -> str:
    reason = unfit(directory)
    return f"{directory}, which {reason or f'has {_mib(_free_bytes(directory))} free'}"


def place() -> tuple[Path, str | None]:
    """The place of the smallest guest's memory, and why it is not the preferred one, if so."""
    directories = _directories()
    chosen = Path(_roomiest(MINIMUM_BYTES).source)
    first = directories[0]
    return chosen, None if chosen == first else _described(first)
