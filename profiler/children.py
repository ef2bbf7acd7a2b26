# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles of the processes that a program started, and of the programs they became."""

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kadence.errors import ArtefactError
from kadence.profiler import kprof, rawstream, recorded
from kadence.profiler.rawstream import Recording

LONGEST = 60  # characters of a command line that are shown


@dataclass(frozen=True)
class Child:
    """One profile beside the first process's."""

    path: Path
    process: int
    argv: tuple[str, ...]
    intervals: int
    complete: bool  # False: it was killed, or is still running
    successor: str  # the program it became, where that could not be recorded; else ""

    def __str__(self) -> str:
        command = shlex.join(self.argv)
        shown = command if len(command) <= LONGEST else f"{command[:LONGEST]}…"
        plural = "" if self.intervals == 1 else "s"
        end = "" if self.complete else ", cut off"
        if self.successor:
            end = f", then {self.successor}, which could not be recorded"
        return (
            f"process {self.process} ({shown}): {self.path}, {self.intervals} interval{plural}{end}"
        )


def pack(names: Path, first: Path, shown_in: Path) -> Iterator[Child]:
    """Pack all profiles that were listed, but the first process's, in the order they were begun.

    One that goes on being written stays as it is, which is readable, too. `shown_in` is the
    folder as the user named it.
    """
    for name in dict.fromkeys(names.read_bytes().split(b"\0")[:-1]):
        path = Path(os.fsdecode(name))
        if path == first:
            continue
        try:
            recording = rawstream.read(path)
            profile = recorded.profile(recording)
            if recording.ended:
                kprof.write(path, profile)
        except (ArtefactError, OSError):
            continue  # who started it took it away
        yield _child(shown_in / path.name, recording, len(profile.instructions))


def _child(path: Path, recording: Recording, rows: int) -> Child:
    head = recording.head
    return Child(path, head.process, head.argv, rows, recording.ended, recording.successor)
