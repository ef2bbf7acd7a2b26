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

PATH = ">"  # between a caller and a callee
UNKNOWN = 0  # the longest call of a path
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
    modules: Sequence[Path] = (),
) -> Observation:
    """Run a command, and count the calls of the functions that match a pattern of the shell's.

    "CALLER>CALLEE" counts what a caller's calls and their callees call, for the command's tasks.
    With the modules that mark phases, paths begin with the phase of their task.
    Raises UsageError, before the command runs, if a pattern matches no function.
    """
    lines = symbols.of(guest)
    names = {name for _, name in calls.functions(lines)}
    for pattern in (each for both in patterns for each in both.split(PATH)):
        if not fnmatch.filter(names, pattern):
            raise UsageError(f"no function of {guest.name} matches {pattern}")
    by_caller = any(PATH in pattern for pattern in patterns)
    with tempfile.TemporaryDirectory(prefix="kadence-observe-") as name:
        folder = Path(name)
        reading = run(
            guest,
            argv,
            timeout_seconds=timeout_seconds,
            stand_in=True,
            modules=modules,
            emulator_options=calls.options(folder, lines, paths=with_paths or by_caller),
        )
        counted = [tally for tally in calls.tallies(folder) if tally.section == COMMAND]
        found = _paths(folder) if with_paths or by_caller else None
    own = sum(each.own for each in counted)
    asked = _asked_for(counted, patterns)
    if found:
        asked = _sorted([*asked, *by_path(found.command, patterns)])
    return Observation(reading, asked, own, found if with_paths else None)


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
    return _sorted(found)


def _sorted(found: Sequence[Tally]) -> list[Tally]:
    return sorted(found, key=lambda tally: (-tally.inclusive, tally.function))


def by_path(command: paths.Path, patterns: Sequence[str]) -> list[Tally]:
    """The calls below a caller, for each caller and callee that match."""
    sums: dict[str, tuple[int, int, int]] = {}
    for caller, callee in (each.split(PATH, 1) for each in patterns if PATH in each):
        for path, above in paths.matching(command, callee, caller):
            name = f"{above.function if above else caller} {PATH} {path.function}"
            before = sums.get(name, (0, 0, 0))
            own = (path.calls, path.own, path.instructions)
            sums[name] = (before[0] + own[0], before[1] + own[1], before[2] + own[2])
    return [Tally(COMMAND, 0, name, *sums[name], longest=UNKNOWN) for name in sums]
