# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths of a guest's kernel: functions with those that called them, as QEMU's plugin counts.

The plugin's paths.h describes the file.
"""

import fnmatch
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from kadence.base.errors import GuestError

COMMAND, OTHERS, INTERRUPTS = "command", "others", "interrupts"
# Waiting that is no cause: for a child, which is observed itself, and for the lab's own files,
# whose host takes its own time. A task that is preempted on its way back to the program waits for
# no function either.
FOR_CHILDREN = "do_wait"
FOR_FILES = ("fuse", "filemap_fault")
TO_PROGRAM = frozenset({"syscall_exit_to_user_mode", "irqentry_exit_to_user_mode"})
PREEMPTED = "schedule"
PHASE = "phase:"  # in place of a function: what a task does in this phase is below


@dataclass
class Path:
    """A function, in the calls of the functions above it."""

    function: str
    calls: int
    own: int  # instructions
    own_waited: int  # virtual ns in which its task did not run
    parent: "Path | None"
    below: list["Path"] = field(default_factory=list)

    @cached_property
    def instructions(self) -> int:
        """Its own and those of all functions below."""
        return self.own + sum(path.instructions for path in self.below)

    @cached_property
    def waited(self) -> int:
        """Its own waiting and that of all functions below, as far as it may be a cause."""
        if self._waits_for_others:
            return 0
        return self.own_waited + sum(path.waited for path in self.below)

    @cached_property
    def _waits_for_others(self) -> bool:
        if self.function == FOR_CHILDREN or any(each in self.function for each in FOR_FILES):
            return True
        if self.parent is None:
            return False
        if self.function == PREEMPTED and self.parent.function in TO_PROGRAM:
            return True
        return self.parent._waits_for_others

    @property
    def phase(self) -> int | None:
        """The phase that this stands for, in place of a function."""
        return int(self.function[len(PHASE) :]) if self.function.startswith(PHASE) else None

    @property
    def cost(self) -> int:
        """Virtual ns: an instruction takes one."""
        return self.instructions + self.waited

    def all(self) -> Iterator["Path"]:
        """This path and all below."""
        yield self
        for path in self.below:
            yield from path.all()

    def above(self) -> Iterator["Path"]:
        """The paths that contain this one, from the nearest on."""
        path = self.parent
        while path:
            yield path
            path = path.parent


def matching(root: Path, function: str, below: str) -> list[tuple[Path, Path | None]]:
    """The paths of functions that match a pattern of the shell's, below a caller that does.

    Each comes with the nearest such caller; None if any caller will do ("*"). A call within another
    one of the same pattern, below the same caller, is a part of that one.
    """
    found = []
    for path in root.all():
        if fnmatch.fnmatchcase(path.function, function):
            between, caller = _up_to(path, below)
            is_part = any(fnmatch.fnmatchcase(each.function, function) for each in between)
            if not is_part and (caller or below == "*"):
                found.append((path, caller))
    return found


def _up_to(path: Path, caller: str) -> tuple[list[Path], Path | None]:
    """The paths above until the nearest one that matches, and that one."""
    between: list[Path] = []
    for each in path.above():
        if caller != "*" and fnmatch.fnmatchcase(each.function, caller):
            return between, each
        between.append(each)
    return between, None


@dataclass(frozen=True)
class Paths:
    """All paths of a section, by whose they are."""

    command: Path
    others: Path
    interrupts: Path
    dropped: int  # calls whose path had no memory left, and counts as their caller's


def read(lines: Iterable[str], section: int) -> Paths:
    """Read the paths of a section."""
    rows = iter(lines)
    dropped = int(next(rows).split()[1])
    found: dict[str, Path] = {}
    roots: dict[str, Path] = {}
    for number, parent, path in _rows(rows, section):
        found[number] = path
        if parent in found:
            path.parent = found[parent]
            found[parent].below.append(path)
        else:
            roots[path.function] = path
    if COMMAND not in roots:
        raise GuestError("QEMU ended without the paths of its plugin")
    return Paths(roots[COMMAND], roots[OTHERS], roots[INTERRUPTS], dropped)


def _rows(rows: Iterable[str], section: int) -> Iterator[tuple[str, str, Path]]:
    for row in rows:
        number, at, parent, function, calls, own, waited = row.split()
        if int(number) == section:
            yield at, parent, Path(function, int(calls), int(own), int(waited), None)
