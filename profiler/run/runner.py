# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a program and its child processes under kbbv, and packs their profiles."""

import glob
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kadence.base import terminal
from kadence.base.errors import ArtefactError, ToolError, UsageError
from kadence.profiler import kprof
from kadence.profiler.combine import recorded
from kadence.profiler.format import cfgsection, program
from kadence.profiler.format.program import Program
from kadence.profiler.run import children, launch, taking
from kadence.profiler.run.children import Child
from kadence.profiler.stream import rawstream
from kadence.profiler.stream.rawstream import Recording

LARGEST_INTERVAL = 1 << 62  # kbbv's own limit
EXAMPLE_INTERVAL = 1_000_000
# The first interval if the user gives none; kbbv doubles it whenever a thread would have more than
# MOST_ROWS rows. A short run of 50 million instructions has half of MOST_ROWS intervals of this
# length, and a block, of at most 60 instructions, is still negligible beside it.
FINEST_INTERVAL = 100_000
MOST_ROWS = 1000


@dataclass(frozen=True)
class Outcome:
    """How the program ended; `notes` are sentences for the user."""

    exit_status: int  # of the command; 128 + signal if a signal ended it
    rows: int
    notes: tuple[str, ...] = ()
    children: tuple[Child, ...] = ()  # the other profiles: further processes and programs
    taken: Child | None = None  # the process whose profile was taken, if there was a choice
    ranks: tuple[Path, ...] = ()  # profiles of the same program with comparable work


@dataclass(frozen=True)
class _Scratch:
    """The temporary files of a run."""

    places: launch.Places
    before: tuple[int, int] | None  # device and inode of the earlier file at the output


def profile(
    argv: Sequence[str],
    output: Path,
    interval: int | None = None,
    *,
    wanted: str | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: launch.Stream = None,
    stdout: launch.Stream = None,
    stderr: launch.Stream = None,
) -> Outcome:
    """Run `argv` and write the profile of the program that does its work to `output`.

    `output` holds the first process's profile from its first interval on. After the run, it gets
    the profile of the program that did the work, or whose name is `wanted`. The exit status of
    `argv` makes no difference.

    `interval` is in instructions. If it is None, it fits the run: the longest-running thread gets
    between MOST_ROWS / 2 and MOST_ROWS rows, or fewer rows of FINEST_INTERVAL.
    """
    output = Path(output)
    _check(interval)
    found = program.find(argv, cwd, env)
    build_id, functions = cfgsection.read(found.elf)
    with _scratch(output.absolute()) as scratch:
        command = _command(argv, scratch.places, interval)
        place = launch.Surroundings(cwd, env, stdin, stdout, stderr)
        end = _run(command, place, scratch)
        recording = _recording(scratch, argv[0], end)
        others = tuple(children.pack(scratch.places.list, output.absolute(), output.parent))
    made = replace(
        children.with_limit(recorded.profile(recording)),
        argv=tuple(argv),
        functions=functions,
        build_id=build_id,
        command=_reproduction(argv, output, interval, wanted),
        exit_status=end.status,
    )
    kprof.write(output, made)
    first = replace(children.child(output, recording, made), argv=tuple(argv))
    choice = taking.choose(first, others, wanted, cwd)
    notes = [
        *_notes(recording, found, argv[0], end.status, choice.taken is first),
        *taking.notes(choice, first, str(output)),
        *taking.left_behind(choice, others),
        *taking.unseen(argv, cwd, [first, *others]),
    ]
    rows, others = taking.put_in_place(choice, first, others, output)
    ranks = tuple(rank.path for rank in choice.ranks)
    return Outcome(end.status, rows, tuple(notes), others, choice.taken, ranks)


def _check(interval: int | None) -> None:
    if interval is not None and not 1 <= interval <= LARGEST_INTERVAL:
        raise UsageError(
            f"an interval of {interval} instructions is not possible; give at least 1, "
            f"such as {EXAMPLE_INTERVAL}, or leave out --interval to fit it to the run"
        )


def _command(argv: Sequence[str], places: launch.Places, interval: int | None) -> list[str]:
    if interval is None:
        return launch.command(argv, places, FINEST_INTERVAL, MOST_ROWS)
    return launch.command(argv, places, interval)


@contextmanager
def _scratch(output: Path) -> Iterator[_Scratch]:
    """Make a directory beside the output, which shows before the run whether it can be written."""
    if output.exists() and not output.is_file():
        raise ArtefactError(f"cannot write {output}: it is not a file; choose another with -o")
    try:
        directory = tempfile.TemporaryDirectory(prefix=f".{output.name}.", dir=output.parent)
    except OSError as error:
        raise ArtefactError(
            f"cannot write {output}: {error.strerror}; choose another place with -o"
        ) from error
    with directory as name:
        try:
            names = Path(name) / "list"
            names.touch()
            yield _Scratch(launch.Places(output, names, Path(name)), _identity(output))
        finally:
            for unnamed in output.parent.glob(f"{glob.escape(output.name)}.*.new"):
                unnamed.unlink(missing_ok=True)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _run(command: Sequence[str], place: launch.Surroundings, scratch: _Scratch) -> launch.End:
    if not terminal.shows_progress():
        return launch.run(command, place, None)
    progress = launch.Progress(rawstream.RowCounter(scratch.places.output, scratch.before).advance)
    try:
        return launch.run(command, place, progress.look)
    finally:
        progress.clear()


def _last_words(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        lines = []
    # Every line begins with Valgrind's `==PID== `.
    texts = [line.split("== ", 1)[-1].strip() for line in lines]
    return next((text for text in reversed(texts) if text), "it said nothing")


def _recording(scratch: _Scratch, name: str, end: launch.End) -> Recording:
    output = scratch.places.output
    words = _last_words(scratch.places.log_of(end.process))
    written = _identity(output) not in (None, scratch.before)
    if words.startswith("kbbv: cannot write"):
        kept = f"{output} has the intervals before that; " if written else ""
        raise ToolError(
            f"the recording of {name} could not be written; {kept}make room on that disk"
        )
    if not written:
        raise ToolError(f"{name} could not be started under Valgrind: {words}")
    recording = rawstream.read(output)
    if not (recording.ended or end.status == 128 + signal.SIGKILL):
        raise ToolError(f"Valgrind failed while it ran {name}: {words}")
    return recording


def _reproduction(
    argv: Sequence[str], output: Path, interval: int | None, wanted: str | None
) -> tuple[str, ...]:
    chosen = () if interval is None else ("--interval", str(interval))
    named = () if wanted is None else ("--program", wanted)
    return ("kadence", "profile", *chosen, *named, "-o", str(output), "--", *argv)


def _notes(
    recording: Recording, found: Program, name: str, status: int, taken: bool
) -> Iterator[str]:
    if found.interpreter and taken:
        yield (
            f"{name} is a script: the profile is that of {found.interpreter}; the programs it "
            "starts have their own"
        )
    if recording.successor:
        yield (
            f"{name} became {recording.successor} (exec), which could not be recorded: it is "
            "set-uid, not for x86_64, or out of Valgrind's reach"
        )
    elif recording.replaced:
        if taken:
            yield f"{name} became another program (exec), which has a profile of its own"
    elif not recording.complete:
        yield f"{name} was killed: the profile holds what was recorded until then"
    elif status > 128 and status - 128 in set(signal.Signals):
        signal_name = signal.Signals(status - 128).name
        yield f"{name} ended with status {status} ({signal_name}); the profile is complete"
