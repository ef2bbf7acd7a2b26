# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures single operations: runs build/bench/lab/lab in a guest that holds nothing else."""

import errno
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence import boot
from kadence.base import codec, resources
from kadence.base.codec import DecodeError
from kadence.base.errors import ArtefactError, GuestError
from kadence.boot import x86_64
from kadence.lab import bare, settled
from kadence.lab.guest import Guest
from kadence.lab.settled import Settled

PROGRAM = "/lab"
PLAIN = "bench/lab/lab"
ROUNDS_SECTION = 2  # of the lab's plugins: rounds of operations, without what prepares them


@dataclass(frozen=True)
class Figure:
    """The figure of one operation: the median of its rounds, or the error that prevented it."""

    operation: str
    unit: str  # ns (in the lab 1 ns is one instruction), bytes, per second
    median: float | None
    low: float | None = None
    high: float | None = None
    rounds: int = 0
    error: str | None = None  # name of the errno

    def __str__(self) -> str:
        return f"n/a ({self.error})" if self.median is None else f"{self.median:,.0f}"


@dataclass(frozen=True)
class Sheet:
    """All figures of one boot, and the setting in which they were measured."""

    guest: Guest
    settled: Settled
    sink: str  # type of the file system that held the files written and read
    figures: dict[str, Figure]

    def setting(self) -> str:
        """Returns the setting that every figure must be quoted with."""
        return self.guest.setting(self.sink, x86_64.LAB)

    def value(self, operation: str) -> float | None:
        """Returns the median, or None if the operation has no figure."""
        figure = self.figures.get(operation)
        return figure.median if figure else None


def take(
    guest: Guest,
    operations: Sequence[str] = (),
    rounds: int | None = None,
    program: str = PLAIN,
    beside: Mapping[str, Path] | None = None,
    emulator_options: Sequence[str] = (),
    modules: Sequence[Path] = (),
) -> Sheet:
    """Boot, settle and measure. An empty `operations` means all operations.

    `program` is the lab's program or one built from the same sources. `beside` maps paths in the
    guest to other files that the program needs. The modules of the kernel are loaded first.
    """
    words = [PROGRAM, "-m", str(guest.memory_bytes)]
    words += ["-r", str(rounds)] if rounds else []
    files = {PROGRAM: resources.built(program), **(beside or {})}
    ending = bare.run(guest, [*words, *operations], files, emulator_options, modules)
    figures = [line for line in ending.lines if line.startswith("{")]
    said = settled.read(line for line in ending.lines if not line.startswith("{"))
    if ending.status:
        rest = " ".join(ending.lines)
        raise GuestError(f"the lab's program ended with {ending.status} on {guest.name}: {rest}")
    if found := boot.complaints(ending.log):
        raise GuestError(f"{guest.name} complained while it was measured: {found[0]}")
    if not said.settled:
        raise GuestError(f"{guest.name} did not settle; figures taken on it would mean nothing")
    return Sheet(guest, said, *read("\n".join(figures)))


def read(text: str) -> tuple[str, dict[str, Figure]]:
    """Parse the program's lines: first the sink's file system, then the operations."""
    try:
        setting, *lines = [json.loads(line) for line in text.splitlines()]
        figures = [_figure(line) for line in lines]
        return codec.decode(_Setting, setting).file_system, {one.operation: one for one in figures}
    except (ValueError, DecodeError) as error:
        raise ArtefactError(f"cannot parse the output of the lab's program: {error}") from error


@dataclass(frozen=True)
class _Setting:
    file_system: str


@dataclass(frozen=True)
class _Failure:
    """The line of an operation that failed."""

    operation: str
    unit: str
    error: str
    errno: int


@dataclass(frozen=True)
class _Measurement:
    """The line of an operation."""

    operation: str
    unit: str
    median: float
    low: float
    high: float
    rounds: int


def _figure(line: dict[str, Any]) -> Figure:
    if "error" in line:
        failed = codec.decode(_Failure, line)
        name = errno.errorcode.get(failed.errno, failed.error)
        return Figure(failed.operation, failed.unit, None, error=name)
    return Figure(**vars(codec.decode(_Measurement, line)))
