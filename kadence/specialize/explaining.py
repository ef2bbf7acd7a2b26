# SPDX-License-Identifier: GPL-2.0-or-later
"""Explains a plan by its ceiling: runs the profiled command, and weighs what the plan would take.

`kadence plan --explain` prints the explanation, and the report begins with it.
"""

import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kadence.base import artefact, codec, statistics
from kadence.base.errors import UsageError
from kadence.base.stages import fingerprint
from kadence.boot import costs
from kadence.measurement import execution, neighbours, shares
from kadence.measurement.execution import ExecutionError, Sample
from kadence.measurement.measure import PLAIN
from kadence.measurement.neighbours import Neighbours
from kadence.phases.artefact import document
from kadence.phases.artefact.document import Document
from kadence.prediction import ceiling, demand, explanation, worth
from kadence.prediction.ceiling import Ceiling
from kadence.prediction.worth import Taker
from kadence.specialize.line import Line

# Short runs are repeated, because the kernel's share of one is known only to some ticks.
MOST_RUNS = 7
ENOUGH_SECONDS = 10.0

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Explanation:
    """A ceiling, and what is to be said of it."""

    command: tuple[str, ...]
    tasks: int  # of the program that may run at once
    found: Ceiling
    takers: tuple[Taker, ...]
    notes: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        return explanation.lines(self.found, self.takers, self.notes)

    def body(self) -> dict[str, Any]:
        """The artefact's body."""
        found = self.found
        return {
            "measured": list(self.command) if found.measured else None,
            "tasks": self.tasks,
            "sentence": explanation.sentence(found),
            "error": explanation.error(found),
            "notes": list(self.notes),
            "run": codec.encode(found.run),
            "waiting": found.share(found.run.waited),
            "priced_seconds": found.priced,
            "scale": found.scale,
            "unexplained": found.share(found.unexplained),
            "rows": [explanation.row(found, each) for each in found.rows],
            "totals": explanation.totals(found),
            "takers": [asdict(taker) for taker in self.takers],
        }


def explain(
    of: Document,
    plan: Body | None,
    command: Sequence[str],
    runs: Sequence[Sample],
    noted: Sequence[str] = (),
) -> Explanation:
    """Explain a plan; without a plan, the profile only; without runs, by a guess."""
    tasks = ceiling.tasks_of(of)
    run = shares.of(runs, tasks) if runs else None
    found = ceiling.find(of, demand.of(of, plan), costs.own(), run)
    takers = worth.takers(found, plan) if plan is not None else []
    notes = explanation.notes(found, of, command)
    return Explanation(tuple(command), tasks, found, tuple(takers), (*noted, *notes))


# ---- measured runs -------------------------------------------------------------------------------


def run_here(command: Sequence[str], count: int) -> list[Sample]:
    """Run the user's command in this directory, with the caller's standard input."""
    given = _standard_input(count)
    with tempfile.TemporaryDirectory(prefix="kadence-explain-") as scratch:
        return [_run(command, Path.cwd(), Path(scratch), given) for _ in range(count)]


def _standard_input(count: int) -> str:
    """The file that gives every run the same input."""
    try:
        kind = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return ""
    if stat.S_ISFIFO(kind) and count > 1:
        raise UsageError(
            "a pipe can be read only once; redirect the standard input from a file or /dev/null"
        )
    return "" if stat.S_ISSOCK(kind) else "/dev/stdin"


def _run(
    command: Sequence[str], folder: Path, scratch: Path, given: str, **settings: Any
) -> Sample:
    settings.setdefault("environment", execution.environment())
    ending = execution.run(
        command, folder, image=None, scratch=scratch, standard_input=given, **settings
    )
    if ending.status:
        raise ExecutionError(
            f"`{' '.join(command)}` ended with status {ending.status} when it was measured"
        )
    return ending.sample


def watched(measure: Callable[[], list[Sample]], of: Document) -> tuple[list[Sample], list[str]]:
    """Measure; also note other work whose effect on a program of several tasks is unknown."""
    around = Neighbours()
    runs = measure()
    share = around.share()
    if ceiling.tasks_of(of) == 1 or share < neighbours.NOTICEABLE_SHARE:
        return runs, []
    return runs, [
        f"other work took {shares.percent(share)} of the processors' time meanwhile; what the "
        "program's other tasks lost by that counts as waiting"
    ]


def repeated(run: Callable[[], Sample]) -> list[Sample]:
    """Repeat a short run, and make at least one."""
    runs = [run()]
    while len(runs) < MOST_RUNS and sum(each.seconds for each in runs) < ENOUGH_SECONDS:
        runs.append(run())
    return runs


# ---- as a stage ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Explaining:
    """The stage of `specialize` that explains its plan."""

    line: Line

    @property
    def place(self) -> Path:
        return self.line.places.artefact("ceiling.json")

    def __call__(self, plain_key: str, plan: Path | None) -> str:
        """Measure the profiled command and write the artefact; return the stage's key."""
        program, of = self.line.program, self.line.places.artefact
        planned = fingerprint(plan) if plan else ""
        return self.line.stages.run(
            "ceiling",
            [plain_key, planned, fingerprint(of("phases.json")), os.uname().release]
            + [program.profile, program.profile_input, program.environment, *_code()],
            [self.place],
            lambda: self._write(plan),
        )

    def _write(self, plan: Path | None) -> None:
        program, of = self.line.program, self.line.places.artefact
        planned = artefact.read(plan, artefact.PLAN) if plan else None
        phases = of("phases.json")
        profiled = document.load(phases)
        runs, noted = watched(self.runs, profiled)
        found = explain(profiled, planned, program.profile, runs, noted)
        command = ["kadence", "specialize", str(program.folder)]
        artefact.write(self.place, artefact.CEILING, _build_id(phases), command, found.body())

    def runs(self) -> list[Sample]:
        """Runs of the plain program's profiled command in its build."""
        return repeated(self._run)

    def _run(self) -> Sample:
        program = self.line.program
        scratch = self.line.places.output / "scratch"
        scratch.mkdir(exist_ok=True)
        return _run(
            program.profile,
            self.line.places.build(PLAIN),
            scratch,
            program.profile_input,
            environment=execution.environment(program.environment),
            timeout_seconds=program.timeout_seconds,
        )


def _build_id(phases: Path) -> str | None:
    return artefact.load(artefact.Envelope, phases, artefact.PHASES).build_id


def _code() -> Iterator[str]:
    """Fingerprints of the code that the explanation depends on."""
    for module in (ceiling, costs, demand, execution, explanation, shares, statistics, worth):
        yield fingerprint(Path(str(module.__file__)))
    yield fingerprint(Path(__file__))
