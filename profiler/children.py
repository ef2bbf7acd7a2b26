# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles of the processes that a program started, and of the programs they became."""

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from kadence.errors import ArtefactError
from kadence.profiler import kprof, limits, rawstream, recorded
from kadence.profiler.profile import Profile
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
    program: str  # path of the file
    instructions: int
    running: bool  # its profile goes on being written
    system_calls: frozenset[str]
    socket_families: frozenset[int]

    def __str__(self) -> str:
        command = shlex.join(self.argv)
        shown = command if len(command) <= LONGEST else f"{command[:LONGEST]}…"
        plural = "" if self.intervals == 1 else "s"
        end = "" if self.complete else ", still running" if self.running else ", cut off"
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
            profile = with_limit(recorded.profile(recording))
            if recording.ended:
                kprof.write(path, profile)
        except (ArtefactError, OSError):
            continue  # who started it took it away
        yield child(shown_in / path.name, recording, profile)


def with_limit(profile: Profile) -> Profile:
    """A profile that says how much memory there was."""
    return replace(profile, facts=profile.facts | {"memory_limit_bytes": limits.memory()})


def child(path: Path, recording: Recording, profile: Profile) -> Child:
    """What is told of a process."""
    head = recording.head
    return Child(
        path=path,
        process=head.process,
        argv=head.argv,
        intervals=len(profile.instructions),
        complete=recording.ended,
        successor=recording.successor,
        program=head.path,
        instructions=int(profile.instructions.sum()),
        running=not recording.ended and Path(f"/proc/{head.process}").exists(),
        system_calls=frozenset(call.name for call in profile.system_calls),
        socket_families=frozenset(profile.facts.get("socket_families", ())),
    )
