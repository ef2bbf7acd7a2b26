# SPDX-License-Identifier: GPL-2.0-or-later
"""Observes the functions of a guest's kernel while a command runs."""

import fnmatch
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence.base.errors import UsageError
from kadence.lab import calls
from kadence.lab.calls import Tally
from kadence.lab.guest import Guest
from kadence.lab.session import Reading, run
from kadence.observe import paths, symbols
from kadence.observe.paths import Paths

COMMAND = 1  # the section of the command, from its execution to its end


@dataclass(frozen=True)
class Observation:
    """What a command took, and what the kernel did meanwhile."""

    reading: Reading
    tallies: list[Tally]  # of the functions that were asked for, most instructions first
    instructions: int  # of the kernel in all
    paths: Paths | None  # if they were asked for


def observe(
    guest: Guest,
    argv: Sequence[str],
    patterns: Sequence[str],
    timeout_seconds: float | None = None,
    *,
    with_paths: bool = False,
) -> Observation:
    """Run a command, and count the calls of the functions that match a pattern of the shell's.

    Raises UsageError, before the command runs, if a pattern matches no function.
    """
    lines = symbols.of(guest)
    names = {name for _, name in calls.functions(lines)}
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            raise UsageError(f"no function of {guest.name} matches {pattern}")
    with tempfile.TemporaryDirectory(prefix="kadence-observe-") as name:
        folder = Path(name)
        reading = run(
            guest,
            argv,
            timeout_seconds=timeout_seconds,
            stand_in=True,
            emulator_options=calls.options(folder, lines, paths=with_paths),
        )
        counted = [tally for tally in calls.tallies(folder) if tally.section == COMMAND]
        found = _paths(folder) if with_paths else None
    own = sum(each.own for each in counted)
    return Observation(reading, _asked_for(counted, patterns), own, found)


def _paths(folder: Path) -> Paths:
    with (folder / calls.PATHS).open(encoding="ascii") as lines:
        return paths.read(lines, COMMAND)


def _asked_for(counted: Sequence[Tally], patterns: Sequence[str]) -> list[Tally]:
    """Without what never ended, such as the exit of a task."""
    found = [
        tally
        for tally in counted
        if tally.calls and any(fnmatch.fnmatchcase(tally.function, each) for each in patterns)
    ]
    return sorted(found, key=lambda tally: (-tally.inclusive, tally.function))
