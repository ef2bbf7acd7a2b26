# SPDX-License-Identifier: GPL-2.0-or-later
"""Chooses the process that the user meant: the one that did the work.

Instructions decide, added up by program: `env`, a shell and `mpirun` only start the program that
the user means, and execute few instructions themselves.
"""

import os
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from kadence.base.errors import UsageError
from kadence.profiler import kprof
from kadence.profiler.format.profile import Facts
from kadence.profiler.format.program import ELF_MAGIC
from kadence.profiler.run.children import Child

# A process or program with at least this share of the largest one's instructions did comparable
# work.
COMPARABLE = 0.1
# Starting and ending a program is not work: `true` takes 150,000 instructions, `bash` 700,000.
LEAST_WORK = 1_000_000
# Another program is taken if it executed at least this many times the instructions of the command's
# own. A smaller difference may come from starting the programs.
FAR_MORE = 2
MOST_NAMED = 5  # names of one kind in a message


@dataclass(frozen=True)
class Work:
    """The work of all processes of one program."""

    processes: tuple[Child, ...]  # in the order of their numbers

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
    """The profile that is taken, and others that the user could have meant."""

    taken: Child
    ranks: tuple[Child, ...]  # other processes of the same program with comparable work
    work: Work
    rivals: tuple[Work, ...]  # other programs with comparable work, if the user named none
    total: int  # instructions of all that was recorded

    def share(self, instructions: int) -> str:
        return f"{instructions / max(self.total, 1):.1%}"


def choose(
    first: Child, others: Sequence[Child], wanted: str | None, cwd: Path | None = None
) -> Choice:
    """Choose the program called `wanted`, or the one that was meant, and one of its processes.

    Of the processes that did comparable work this is the command's own, or else the one with the
    lowest number.
    """
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
    """Return the program that the user meant.

    This is a program that the command names as an argument, if it did comparable work. It need not
    have done most: in a short run, the launcher executes more instructions than the ranks.
    Otherwise it is the command's own program, unless another one did FAR_MORE.
    """
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
    """Group processes by program, most instructions first; leave out those that still run."""
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
    """Return notes for the user about the choice; none if there was nothing to choose."""
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
    """Note the processes that did more work but cannot be taken, because they still run."""
    for process in others:
        if process.running and process.instructions > choice.taken.instructions:
            yield (
                f"{process.argv[0]} (process {process.process}) still ran when the command ended, "
                f"and its profile, {process.path}, still grows; let the command wait for it"
            )


def unseen(argv: Sequence[str], cwd: Path | None, seen: Sequence[Child]) -> Iterator[str]:
    """Note a program that the command names and that unseen processes ran, as with `srun`.

    A command needs a connection to have other processes run the program. A command without one
    only read or wrote the program's file.
    """
    if not any("connect" in process.system_calls for process in seen):
        return
    ran = {os.path.realpath(process.program) for process in seen}
    for word in argv[1:]:
        path = Path(cwd or ".") / word
        if "/" in word and _is_program(path) and os.path.realpath(path) not in ran:
            yield (
                f"{word}, which the command names, ran in none of the profiled processes; if "
                f"{argv[0]} has other processes start it, have them start the profiler: "
                f"{argv[0]} … kadence profile -o P.kprof -- {word}"
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
    """Replace the profile at `output`, the first process's, by the chosen one.

    The first process's profile moves to a name with the process's number. A process that ran alone
    keeps its profile byte for byte. Returns the number of rows at `output`, and the other
    processes with profiles.
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
    kprof.write(output, replace(profile, facts=_with_needs(profile.facts, rest)))
    if taken is not first:
        taken.path.unlink()
    return taken.intervals, tuple(rest)


def _with_needs(facts: Facts, rest: Sequence[Child]) -> Facts:
    """Add the other processes' requests to the kernel, which a tailored kernel must serve."""
    calls = {name for process in rest for name in process.system_calls}
    families = {family for process in rest for family in process.socket_families}
    return replace(
        facts,
        others_system_calls=tuple(sorted(calls)),
        others_socket_families=tuple(sorted(families)),
    )


def _some(words: Sequence[str], between: str) -> str:
    shown = between.join(words[:MOST_NAMED])
    return shown if len(words) <= MOST_NAMED else f"{shown}{between}…"
