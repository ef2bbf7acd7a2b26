# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles of the processes that a program started, and of the programs that they executed."""

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from kadence.base.errors import ArtefactError
from kadence.profiler import kprof
from kadence.profiler.combine import recorded
from kadence.profiler.format.profile import Profile
from kadence.profiler.run import limits
from kadence.profiler.stream import rawstream
from kadence.profiler.stream.rawstream import Recording

LONGEST = 60  # characters of a command line that a message shows


@dataclass(frozen=True)
class Child:
    """The profile of one program in one process."""

    path: Path
    process: int
    argv: tuple[str, ...]
    intervals: int
    complete: bool  # False: it was killed, or is still running
    successor: str  # the program that it executed, if that could not be recorded; else ""
    program: str  # path of the file
    instructions: int
    running: bool  # kbbv still appends to its profile
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
    """Pack all listed profiles except the first process's, in the order in which they were begun.

    A profile that kbbv still appends to keeps the stream form, which is readable, too. `shown_in`
    is the folder as the user named it.
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
            continue  # removed by the program that started the process
        yield child(shown_in / path.name, recording, profile)


def with_limit(profile: Profile) -> Profile:
    """Return the profile with the fact `memory_limit_bytes`."""
    return replace(profile, facts=replace(profile.facts, memory_limit_bytes=limits.memory()))


def child(path: Path, recording: Recording, profile: Profile) -> Child:
    """Summarise one process's profile."""
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
        socket_families=frozenset(profile.facts.socket_families or ()),
    )
