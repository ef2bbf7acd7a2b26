# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the plain program and candidates: once each in a round, in random order."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kadence.base.errors import GuestError, KadenceError
from kadence.boot.request import Request
from kadence.measurement import execution, plain_runs
from kadence.measurement.execution import Ending, ExecutionError
from kadence.measurement.measure import PLAIN
from kadence.measurement.neighbours import NOTICEABLE_SHARE, Neighbours
from kadence.program import outputs
from kadence.program.outputs import Files
from kadence.program.program import Program
from kadence.tune.candidates import OWN, Candidate, merged
from kadence.tune.state import Cost, Round

SECONDS, PROCESSOR = "seconds", "processor"
LEAST_SECONDS = 1e-6  # a clock that counts in ticks may show none
# Times of the plain run after which a candidate is stopped, and the least that it gets.
PATIENCE, LEAST_PATIENCE_SECONDS = 10.0, 10.0


class RefusedError(KadenceError):
    """A candidate fails, or does not do what the plain program does."""


@dataclass(frozen=True)
class Contestant:
    """A candidate that is built, or the plain program."""

    candidate: Candidate
    folder: Path  # built copy of the program's folder
    image: Path | None = None  # of a guest's kernel
    tasks: int = 1  # that a guest can run at once

    @property
    def name(self) -> str:
        return self.candidate.name


@dataclass(frozen=True)
class Track:
    """The program, what it must write, and a folder for its streams."""

    program: Program
    reference: Files  # the outputs of the plain program's first run
    scratch: Path
    plain_seconds: float

    @cached_property
    def _checksums(self) -> dict[str, str]:
        return outputs.checksums(self.program, self.reference)

    def run(self, contestant: Contestant) -> Cost:
        """Run once; raise RefusedError unless the outputs are the plain program's."""
        outputs.remove(self.program, contestant.folder)
        ending = self._execute(contestant, self.program.run, self.program.standard_input)
        self._require_outputs(contestant)
        sample = ending.sample
        return Cost(
            seconds=max(sample.seconds, LEAST_SECONDS),
            processor_seconds=max(
                sample.machine_user_seconds + sample.machine_system_seconds, LEAST_SECONDS
            ),
            resident_bytes=sample.max_resident_bytes,
        )

    def check(self, contestant: Contestant) -> None:
        """Run the program's own check; raise RefusedError if it fails."""
        self._execute(contestant, self.program.check, "")

    def _execute(self, contestant: Contestant, argv: Sequence[str], standard_input: str) -> Ending:
        candidate = contestant.candidate
        most = max(PATIENCE * self.plain_seconds, LEAST_PATIENCE_SECONDS)
        most = min(most, self.program.timeout_seconds)
        self.scratch.mkdir(parents=True, exist_ok=True)
        try:
            ending = execution.run(
                [*candidate.prefix, *argv],
                contestant.folder,
                image=contestant.image,
                scratch=self.scratch,
                environment=merged(
                    execution.environment(self.program.environment), candidate.environment
                ),
                standard_input=standard_input,
                timeout_seconds=most,
                target=Request.target if candidate.target == OWN else candidate.target,
                tasks=contestant.tasks,
            )
        except (ExecutionError, GuestError) as error:
            raise RefusedError(error.reason) from error
        if ending.status:
            raise RefusedError(self._failed(argv, ending, most))
        return ending

    def _failed(self, argv: Sequence[str], ending: Ending, most: float) -> str:
        how = f"ended with status {ending.status}"
        if ending.sample.seconds >= most:
            how = (
                f"was stopped after {most:.3g} s, the plain program takes {self.plain_seconds:.3g}"
            )
        return f"`{' '.join(argv)}` {how}; its output is in {self.scratch / 'stderr'}"

    def _require_outputs(self, contestant: Contestant) -> None:
        written = outputs.files(self.program, contestant.folder, self.scratch)
        if (absent := outputs.absent(written)) is not None:
            raise RefusedError(f"it wrote no {absent}, which kadence.toml names among the outputs")
        if outputs.checksums(self.program, written) == self._checksums:
            return
        differing = next(plain_runs.differences(self.program, self.reference, written), None)
        assert differing is not None
        kept = self.scratch.parent / "outputs" / contestant.name
        outputs.keep(written, kept)
        raise RefusedError(
            f"its {differing.file} is not the plain program's: "
            f"{plain_runs.in_words(differing)}; its outputs are in {kept}"
        )


@dataclass(frozen=True)
class Outcome:
    """A round, and the candidates that failed in it."""

    round: Round
    refused: Mapping[str, str]


def take_round(
    track: Track, contestants: Sequence[Contestant], seed: str, *, patient: bool
) -> Outcome:
    """Run each contestant once. If `patient`, repeat a disturbed round once, and keep the second.

    A failure of the plain program raises ExecutionError: then nothing can be compared.
    """
    first = _attempt(track, contestants, seed, 1)
    if not patient or first.round.others < NOTICEABLE_SHARE:
        return first
    left = [each for each in contestants if each.name not in first.refused]
    second = _attempt(track, left, f"{seed} again", 2)
    return Outcome(second.round, {**first.refused, **second.refused})


def _attempt(track: Track, contestants: Sequence[Contestant], seed: str, number: int) -> Outcome:
    order = list(contestants)
    random.Random(seed).shuffle(order)
    around = Neighbours()
    costs: dict[str, Cost] = {}
    refused: dict[str, str] = {}
    for contestant in order:
        try:
            costs[contestant.name] = track.run(contestant)
        except RefusedError as error:
            if contestant.name == PLAIN:
                raise ExecutionError(f"the plain program fails: {error}") from error
            refused[contestant.name] = error.reason
    share = around.share()
    return Outcome(Round(tuple(costs), costs, share, number), refused)


def counted(rounds: Sequence[Round], by: str) -> list[dict[str, float]]:
    """The costs that are compared."""
    return [
        {
            name: cost.seconds if by == SECONDS else cost.processor_seconds
            for name, cost in each.costs.items()
        }
        for each in rounds
    ]
