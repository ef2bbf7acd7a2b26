# SPDX-License-Identifier: GPL-2.0-or-later
"""Which of the processes that a command started did the work, and so is what the user meant.

By instructions, program by program: `env`, a shell and `mpirun` start what is meant and do little
themselves.
"""

import os
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from kadence.errors import UsageError
from kadence.profiler import kprof
from kadence.profiler.children import Child
from kadence.profiler.program import ELF_MAGIC

# Of the largest, the share from which on a process, or a program, did comparable work.
COMPARABLE = 0.1
# What starts a program and ends it is no work: 150,000 instructions of `true`, 700,000 of `bash`.
LEAST_WORK = 1_000_000
# Another program is taken where it did so many times what the command's own did; less may be what
# both need to start.
FAR_MORE = 2
MOST_NAMED = 5  # of a kind, in a sentence


@dataclass(frozen=True)
class Work:
    """What all processes of one program did."""

    processes: tuple[Child, ...]  # by their numbers

    @property
    def program(self) -> str:
        return self.processes[0].program

    @property
    def name(self) -> str:
        return self.processes[0].argv[0]

    @property
    def instructions(self) -> int:
        return sum(process.instructions for process in self.processes)


@dataclass(frozen=True)
class Choice:
    """The profile that is taken, and what else could have been meant."""

    taken: Child
    ranks: tuple[Child, ...]  # other processes of the same program with comparable work
    work: Work
    rivals: tuple[Work, ...]  # other programs with comparable work, where none was named
    total: int  # instructions of all that was recorded

    def share(self, instructions: int) -> str:
        return f"{instructions / max(self.total, 1):.1%}"


def choose(
    first: Child, others: Sequence[Child], wanted: str | None, cwd: Path | None = None
) -> Choice:
    """The program that is `wanted`, or was meant; of its processes the first that did comparable
    work, which is the command's own where that did."""
    works = _works([first, *others])
    work = _wanted(works, wanted, cwd) if wanted is not None else _meant(works, first, cwd)
    doers = _with_work(work.processes)
    taken = first if first in doers else doers[0]
    return Choice(
        taken=taken,
        ranks=tuple(one for one in doers if one != taken and one.instructions >= LEAST_WORK),
        work=work,
        rivals=tuple(
            other for other in works if wanted is None and other != work and _compares(other, work)
        ),
        total=sum(one.instructions for one in works),
    )


def _wanted(works: Sequence[Work], wanted: str, cwd: Path | None) -> Work:
    for work in works:
        if _is_called(work, wanted, cwd):
            return work
    ran = ", ".join(dict.fromkeys(PurePath(work.program).name for work in works))
    raise UsageError(
        f"no process of {wanted} was recorded; --program takes the name of one that ran: {ran}"
    )


def _meant(works: Sequence[Work], first: Child, cwd: Path | None) -> Work:
    """One that the command names as an argument, if it did comparable work: what starts the ranks
    of a short run executes more than they do. Else the largest, or the command's own."""
    for work in works:
        named = any(_is_called(work, word, cwd) for word in first.argv[1:])
        if named and _compares(work, works[0]):
            return work
    for own in works:
        if first in own.processes and works[0].instructions < FAR_MORE * own.instructions:
            return own
    return works[0]


def _with_work(processes: Sequence[Child]) -> list[Child]:
    most = max(process.instructions for process in processes)
    return [one for one in processes if one.instructions >= COMPARABLE * most]


def _compares(other: Work, work: Work) -> bool:
    return other.instructions >= max(LEAST_WORK, COMPARABLE * work.instructions)


def _works(processes: Sequence[Child]) -> list[Work]:
    """By program, that with most instructions first; what still runs can't be taken."""
    found: dict[str, list[Child]] = defaultdict(list)
    for process in processes:
        if not process.running:
            found[process.program].append(process)
    works = [Work(tuple(sorted(of_one, key=lambda one: one.process))) for of_one in found.values()]
    return sorted(works, key=lambda work: -work.instructions)


def _is_called(work: Work, name: str, cwd: Path | None) -> bool:
    if "/" in name:
        return os.path.realpath(Path(cwd or ".") / name) == os.path.realpath(work.program)
    return name in (PurePath(work.program).name, PurePath(work.name).name)


def notes(choice: Choice, first: Child, output: str) -> list[str]:
    """What the user is to know of the choice; nothing where there was none."""
    said = []
    taken = choice.taken
    if taken is not first:
        said.append(
            f"profiled {taken.argv[0]} (process {taken.process}, "
            f"{choice.share(taken.instructions)} of the instructions), started by {first.argv[0]}"
        )
    if choice.ranks:
        number = len(choice.ranks) + 1
        paths = [output, *(str(rank.path) for rank in choice.ranks)]
        said.append(
            f"{number} processes of {taken.argv[0]} did comparable work; "
            f"`kadence phases {_some(paths, ' ')}` takes them together"
        )
    if choice.rivals:
        others = _some(
            [f"{rival.name} ({choice.share(rival.instructions)})" for rival in choice.rivals], ", "
        )
        said.append(
            f"other programs did comparable work to {taken.argv[0]} "
            f"({choice.share(choice.work.instructions)}): {others}; "
            "--program NAME takes one of them"
        )
    return said


def left_behind(choice: Choice, others: Sequence[Child]) -> Iterator[str]:
    """What did more than what was taken and can't be, because it still runs."""
    for process in others:
        if process.running and process.instructions > choice.taken.instructions:
            yield (
                f"{process.argv[0]} (process {process.process}) still ran when the command ended, "
                f"and its profile, {process.path}, goes on; let the command wait for it"
            )


def unseen(argv: Sequence[str], cwd: Path | None, seen: Sequence[Child]) -> Iterator[str]:
    """A program that the command names and that others ran for it, as `srun` has it.

    That needs a connection; who has none read the file, or wrote it.
    """
    if not any("connect" in process.system_calls for process in seen):
        return
    ran = {os.path.realpath(process.program) for process in seen}
    for word in argv[1:]:
        path = Path(cwd or ".") / word
        if "/" in word and _is_program(path) and os.path.realpath(path) not in ran:
            yield (
                f"{word}, which the command names, ran in no process that was seen; if {argv[0]} "
                f"has others start it, let these profile it: {argv[0]} … kadence profile -o "
                f"P.kprof -- {word}"
            )
            return


def _is_program(path: Path) -> bool:
    try:
        if not (path.is_file() and os.access(path, os.X_OK)):
            return False
        with path.open("rb") as file:
            return file.read(len(ELF_MAGIC)) == ELF_MAGIC
    except (OSError, ValueError):
        return False


def put_in_place(
    choice: Choice, first: Child, others: tuple[Child, ...], output: Path
) -> tuple[int, tuple[Child, ...]]:
    """Let the profile at `output`, the first process's, be the chosen one: how many rows it has,
    and the processes that have profiles beside it.

    Then the first process's has its number in its name. A process that ran alone keeps its bytes.
    """
    taken = choice.taken
    if not others:
        return first.intervals, ()
    profile = kprof.read(output)
    rest = [process for process in (first, *others) if process is not taken]
    if taken is not first:
        command = profile.command
        numbered = output.with_name(f"{output.name.removesuffix('.kprof')}.{first.process}.kprof")
        shutil.copyfile(output, numbered)
        rest[0] = replace(first, path=numbered)
        profile = replace(kprof.read(taken.path), command=command)
    kprof.write(output, replace(profile, facts=profile.facts | _needs(rest)))
    if taken is not first:
        taken.path.unlink()
    return taken.intervals, tuple(rest)


def _needs(rest: Sequence[Child]) -> dict[str, Any]:
    """What the others asked of the kernel, for whoever makes one."""
    calls = {name for process in rest for name in process.system_calls}
    families = {family for process in rest for family in process.socket_families}
    return {"others_system_calls": sorted(calls), "others_socket_families": sorted(families)}


def _some(words: Sequence[str], between: str) -> str:
    shown = between.join(words[:MOST_NAMED])
    return shown if len(words) <= MOST_NAMED else f"{shown}{between}…"
