# SPDX-License-Identifier: GPL-2.0-or-later
"""What `kadence plan` measures for an explanation: the profiled command, and compiler flags."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence.base import artefact, elf
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
    of = document.load(phases)
    profiled = artefact.load(artefact.Envelope, phases, artefact.PHASES).build_id
    if wanted.flags:
        return _with_flags(of, profiled, plan, wanted, wanted.flags)
    command = wanted.command
    runs = explaining.run_here(command, wanted.runs) if command else []
    notes = _notes(of, profiled, command, shutil.which(command[0]) if command else None)
    return Explained(explaining.explain(of, plan, command, runs, notes))


def _with_flags(
    of: Document, profiled: str | None, plan: Mapping[str, Any], wanted: Wanted, folder: Path
) -> Explained:
    """Build the program of a kadence.toml, and measure it and its flags."""
    described = program.read(folder)
    places = Places(Path(f"{described.name}.kadence").resolve(), described.name)
    claim(places.output, described.folder)
    with alone_in(places.output):
        line = Line(described, places, Stages(places.output))
        source_key = line.copied()
        plain_key = line.built(PLAIN, source_key, None)
        line.tried(plain_key)
        trial = Trial(line, ROUNDS, ceiling.tasks_of(of))
        trial(source_key, plain_key)
        command, runs = _runs(line, wanted)
        built = places.build(PLAIN) / command[0]
    notes = _notes(of, profiled, command, built)
    return Explained(explaining.explain(of, plan, command, runs, notes), trial.read())


def _runs(line: Line, wanted: Wanted) -> tuple[Sequence[str], list[Sample]]:
    """Runs of the named command here, else of kadence.toml's in its build."""
    if wanted.command:
        return wanted.command, explaining.run_here(wanted.command, wanted.runs)
    return line.program.profile, Explaining(line).runs()


def _notes(
    of: Document, profiled: str | None, command: Sequence[str], built: Path | str | None
) -> tuple[str, ...]:
    """Whether the measured program is the profiled one."""
    found = elf.build_id(Path(built)) if built and tuple(command) == of.program else None
    return (OTHER_BUILD,) if profiled and found and found != profiled else ()
