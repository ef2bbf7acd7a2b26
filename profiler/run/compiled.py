# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a program that was built in profile mode, which writes its profile itself."""

import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from kadence.base import terminal
from kadence.base.errors import ArtefactError, ToolError, UsageError
from kadence.profiler import kprof
from kadence.profiler.combine import recorded
from kadence.profiler.format import program
from kadence.profiler.run import launch
from kadence.profiler.run.children import with_limit
from kadence.profiler.run.runner import EXAMPLE_INTERVAL, Outcome
from kadence.profiler.stream import rawstream
from kadence.profiler.stream.rawstream import Recording

SECTION = "kadence_units"
SHORTEST_INTERVAL = 100_000  # instructions; the sampler is no finer
LARGEST_INTERVAL = 1 << 62


def is_built_in(
    argv: Sequence[str], cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> bool:
    """Return whether the program that `argv` names was built in profile mode."""
    found = program.find(argv, cwd, env)
    if found.interpreter:
        return False
    try:
        with found.elf.open("rb") as file:
            return ELFFile(file).get_section_by_name(SECTION) is not None
    except (ELFError, ValueError):
        return False  # a later reader of the file reports what is wrong


def profile(
    argv: Sequence[str],
    output: Path,
    interval: int | None = None,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: launch.Stream = None,
    stdout: launch.Stream = None,
    stderr: launch.Stream = None,
) -> Outcome:
    """Run `argv`, a program for which is_built_in() is true, while it writes to `output`.

    `interval` is in instructions. If it is None, the program chooses intervals of processor time
    that fit the length of the run.
    """
    output = Path(output).absolute()
    _check(output, interval)
    settings = {"KADENCE_PROFILE_OUTPUT": str(output).replace("%", "%%")}
    if interval is not None:
        settings["KADENCE_PROFILE_INTERVAL"] = f"{interval}i"
    before = _state(output)
    place = launch.Surroundings(cwd, env, stdin, stdout, stderr)
    counter = rawstream.RowCounter(output)
    status = _run(
        argv, place, settings, lambda: 0 if _state(output) == before else counter.advance()
    )
    if _state(output) == before:
        raise ToolError(
            f"{argv[0]} left no profile at {output}: it was killed in its first interval, or could "
            "not write there; use a shorter --interval, or another place with -o"
        )
    recording = rawstream.read(output)
    made = replace(
        recorded.profile(recording),
        argv=tuple(argv),
        command=_reproduction(argv, output, interval),
        exit_status=status,
    )
    kprof.write(output, with_limit(made))
    notes = tuple(_notes(recording, argv[0], output, status))
    return Outcome(status, len(made.instructions), notes)


def _check(output: Path, interval: int | None) -> None:
    if interval is not None and not SHORTEST_INTERVAL <= interval <= LARGEST_INTERVAL:
        raise UsageError(
            f"an interval of {interval} instructions is not possible for a program that was built "
            f"in profile mode; give at least {SHORTEST_INTERVAL}, such as {EXAMPLE_INTERVAL}, "
            "or leave out --interval to fit it to the run"
        )
    if output.exists() and not output.is_file():
        raise ArtefactError(f"cannot write {output}: it is not a file; choose another with -o")
    if not output.parent.is_dir():
        raise ArtefactError(
            f"cannot write {output}: there is no such directory; choose another with -o"
        )


def _state(path: Path) -> tuple[int, int] | None:
    """Return what changes when the program writes, which it first does after one interval."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _run(
    argv: Sequence[str],
    place: launch.Surroundings,
    settings: Mapping[str, str],
    rows: Callable[[], int],
) -> int:
    if not terminal.shows_progress():
        return launch.run_alone(argv, place, settings, None)
    progress = launch.Progress(rows)
    try:
        return launch.run_alone(argv, place, settings, progress.look)
    finally:
        progress.clear()


def _reproduction(argv: Sequence[str], output: Path, interval: int | None) -> tuple[str, ...]:
    chosen = () if interval is None else ("--interval", str(interval))
    return ("kadence", "profile", *chosen, "-o", str(output), "--", *argv)


def _notes(recording: Recording, name: str, output: Path, status: int) -> list[str]:
    notes = [
        f"{name} was built in profile mode and counted its blocks itself (no Valgrind): the "
        "profile has no system calls and no memory; build it without KADENCE_MODE for those"
    ]
    others = sorted(path.name for path in output.parent.glob(f"{output.name}.*[0-9]"))
    if others:
        notes.append(f"processes that it started are in {', '.join(others)}")
    if recording.replaced:
        notes.append(f"{name} became another program (exec): the profile ends there")
    elif not recording.complete:
        number = status - 128
        what = signal.Signals(number).name if number in set(signal.Signals) else "unseen"
        notes.append(
            f"{name} was killed ({what}): the profile holds the whole intervals until then"
        )
    return notes
