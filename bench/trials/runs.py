# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a program in all ways once: on this machine's own kernel, or in a guest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from bench.trials import guests
from bench.trials.guests import LAB, RECORD, Command, Ran, Runner
from bench.trials.programs import GUEST_WAYS, OWN_WAYS, Subject, Way
from kadence.measurement import measure, plain_runs
from kadence.measurement.execution import Sample
from kadence.program import outputs
from kadence.program.places import Places
from kadence.program.program import Program

Taken = tuple[Way, Sample, dict[str, str]]  # with the outputs' checksums


@dataclass(frozen=True)
class Running:
    """A program that runs, and where its trials are recorded."""

    described: Program
    subject: Subject
    places: Places
    record: Path


class Place(Protocol):
    """Where programs run."""

    @property
    def ways(self) -> tuple[Way, ...]: ...

    @property
    def uncounted(self) -> int:
        """The number of first rounds, which fill caches."""
        ...

    @property
    def has_own_builds(self) -> bool:
        """Whether other builds of the plain program can run there, too."""
        ...

    @property
    def is_task(self) -> bool:
        """Whether the verdict is by processor time."""
        ...

    def round(self, running: Running, ways: Sequence[Way]) -> Iterator[Taken]:
        """Run each way once, in this order."""
        ...


@dataclass(frozen=True)
class OwnKernel:
    """This machine's own kernel."""

    ways: tuple[Way, ...] = OWN_WAYS
    uncounted: int = 1
    has_own_builds: bool = True
    is_task: bool = False

    def round(self, running: Running, ways: Sequence[Way]) -> Iterator[Taken]:
        """Run each way once, in this order."""
        scratch = running.places.output / "runs"
        for way in ways:
            told = ((measure.RECORD, str(running.record)),) if way.has_trials else ()
            before = running.described.environment
            subject = replace(running.described, environment=before + way.environment + told)
            folder = running.places.build(way.build)
            sample, written = plain_runs.measured(subject, folder, scratch, way.name)
            yield way, sample, outputs.checksums(running.described, written)


@dataclass
class InGuest:
    """A guest: User-Mode Linux, or the lab. The ways of a round run in one guest."""

    where: str
    ways: tuple[Way, ...] = GUEST_WAYS
    has_own_builds: bool = False
    uncounted: int = field(init=False)
    is_task: bool = field(init=False)
    run: Runner = field(init=False)

    def __post_init__(self) -> None:
        # The lab's clock counts instructions, so its first round is as good as the others.
        self.is_task = self.where == LAB
        self.uncounted = 0 if self.where == LAB else 1
        self.run = guests.runner(self.where)

    def round(self, running: Running, ways: Sequence[Way]) -> Iterator[Taken]:
        """Run each way once, in this order."""
        commands = [_command(running, way) for way in ways]
        ran = guests.run_all(self.run, commands, running.places.output / self.where)
        for way, one in zip(ways, ran, strict=True):
            _append(one, running.record)
            written = outputs.files(running.described, one.folder, one.folder)
            yield way, one.sample, outputs.checksums(running.described, written)


def _command(running: Running, way: Way) -> Command:
    described, folder = running.described, running.places.build(way.build)
    first, *rest = described.run
    stdin = described.standard_input
    return Command(
        name=way.name,
        words=[str(folder / first), *rest],
        environment=dict(described.environment + way.environment),
        inputs=tuple(folder / name for name in running.subject.inputs),
        standard_input=folder / stdin if stdin else None,
        outputs=described.outputs,
    )


def _append(ran: Ran, record: Path) -> None:
    """Each guest numbers its processes anew, but a header begins each of them."""
    written = ran.folder / RECORD
    if written.exists():
        with record.open("ab") as every:
            every.write(written.read_bytes())
