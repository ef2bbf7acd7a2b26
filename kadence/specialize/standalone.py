# SPDX-License-Identifier: GPL-2.0-or-later
"""What `kadence plan` measures for an explanation: the profiled command, and compiler flags."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence.base import artefact, elf
from kadence.base.errors import UsageError
from kadence.base.stages import Stages, alone_in
from kadence.measurement.execution import Sample
from kadence.measurement.measure import PLAIN
from kadence.phases.artefact import document
from kadence.phases.artefact.document import Document
from kadence.prediction import ceiling
from kadence.prediction.prediction import Timed
from kadence.program import program
from kadence.program.places import Places, claim
from kadence.specialize import explaining
from kadence.specialize.explaining import Explaining, Explanation
from kadence.specialize.flags import Flags, Trial
from kadence.specialize.line import Line

ROUNDS = 7
OTHER_BUILD = "the profile is of another build of this program, by its build-id; profile it again"


@dataclass(frozen=True)
class Wanted:
    """What to measure."""

    command: tuple[str, ...]  # empty: nothing, or what kadence.toml names
    runs: int
    flags: Path | None  # folder with a kadence.toml


@dataclass(frozen=True)
class Explained:
    """The explanation, and what flags of the compiler gave, if they were measured."""

    explanation: Explanation
    flags: Flags | None = None

    @property
    def timed(self) -> Timed | None:
        """The time of the measured run; None for a guess."""
        run = self.explanation.found.run
        return Timed(run.seconds - run.delayed, run.own + run.kernel) if run.runs else None

    def lines(self) -> Iterator[str]:
        """What is first said of a plan."""
        if self.flags and self.flags.first:
            yield self.flags.first
        yield from self.explanation.lines()
        if self.flags:
            yield from (f"flags: {sentence}" for sentence in self.flags.rest)


def explain(phases: Path, plan: Mapping[str, Any], wanted: Wanted) -> Explained:
    """Measure, then explain the plan."""
    profiled = Profiled(
        document.load(phases),
        artefact.load(artefact.Envelope, phases, artefact.PHASES).build_id,
        plan,
    )
    if wanted.flags is None:
        return Explained(_here(profiled, wanted))
    with _line(wanted.flags) as line:
        flags = _tried(profiled.of, line)
        explanation = _here(profiled, wanted) if wanted.command else _in_build(profiled, line)
    return Explained(explanation, flags)


@dataclass(frozen=True)
class Profiled:
    """What is explained."""

    of: Document
    build_id: str | None
    plan: Mapping[str, Any]

    def explained(
        self, command: Sequence[str], measure: Callable[[], list[Sample]], program: Path | str
    ) -> Explanation:
        """Measure a command, which runs this program, and explain the plan."""
        runs, noted = explaining.watched(measure, self.of)
        found = elf.build_id(Path(program)) if tuple(command) == self.of.program else None
        if self.build_id and found and found != self.build_id:
            noted.append(OTHER_BUILD)
        return explaining.explain(self.of, self.plan, command, runs, noted)


def _here(profiled: Profiled, wanted: Wanted) -> Explanation:
    """By the named command in this folder; without one, by a guess."""
    command = wanted.command
    if not command:
        return explaining.explain(profiled.of, profiled.plan, profiled.of.program, [])
    started = shutil.which(command[0]) or command[0]
    return profiled.explained(command, lambda: explaining.run_here(command, wanted.runs), started)


def _in_build(profiled: Profiled, line: Line) -> Explanation:
    """By the profiled command of kadence.toml, in the plain program's build."""
    command = line.program.profile
    return profiled.explained(command, Explaining(line).runs, line.places.build(PLAIN) / command[0])


@contextmanager
def _line(folder: Path) -> Iterator[Line]:
    """The stages of a folder's program, in the place where `kadence specialize` keeps them."""
    described = program.read(folder)
    if not described.flags:
        raise UsageError(f"{folder}/{program.FILE_NAME} names no flags of the compiler to measure")
    places = Places(Path(f"{described.name}.kadence").resolve(), described.name)
    claim(places.output, described.folder)
    with alone_in(places.output):
        yield Line(described, places, Stages(places.output))


def _tried(of: Document, line: Line) -> Flags:
    """Build the plain program, and measure its flags."""
    source_key = line.copied()
    plain_key = line.built(PLAIN, source_key, None)
    line.tried(plain_key)
    trial = Trial(line, ROUNDS, ceiling.tasks_of(of))
    trial(source_key, plain_key)
    return trial.read()
