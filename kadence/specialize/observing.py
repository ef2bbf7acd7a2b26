# SPDX-License-Identifier: GPL-2.0-or-later
"""What functions of the kernel did in each phase of the program, for its report.

The profiled command runs twice in the lab, on Debian's kernel: to count calls, and to time them.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence.base import artefact, resources
from kadence.base.errors import GuestError
from kadence.base.stages import fingerprint
from kadence.base.terminal import tell
from kadence.boot import debian
from kadence.lab import guest as lab_guest
from kadence.lab.session import Reading
from kadence.measurement import execution
from kadence.observe.probes import guest, instruments, modules, phases, slowdown, table
from kadence.observe.probes.phases import Function, Phase
from kadence.observe.probes.results import NO_PHASE, Costs, Results
from kadence.specialize.line import Line

MOST = 5  # functions that are shown of a phase
KILO = 1000.0


@dataclass(frozen=True)
class Observing:
    """The stage that observes the kernel."""

    line: Line
    folder: Path  # of the program, adapted if possible

    @property
    def place(self) -> Path:
        return self.line.places.artefact("observed.json")

    def __call__(self, key: str) -> str:
        """Observe the functions of kadence.toml, unless that is done; return the stage's key."""
        program = self.line.program
        return self.line.stages.run(
            "observe",
            [key, program.profile, program.profile_input, program.environment, program.observed]
            + [debian.newest_release(lab_guest.STOCK_SERIES), *_code()],
            [self.place],
            self._write,
        )

    def _write(self) -> None:
        program = self.line.program
        command = ["kadence", "specialize", str(program.folder)]
        artefact.write(self.place, artefact.OBSERVED, None, command, self._body())

    def _body(self) -> dict[str, Any]:
        release = debian.newest_release(lab_guest.STOCK_SERIES)
        kernel = guest.kernel_of(release)
        patterns = self.line.program.observed
        chosen = instruments.choose(kernel, patterns)
        counting = instruments.choose(kernel, patterns, only_count=True)
        tell(f"{len(chosen)} functions of Debian's {release}, in two runs of the profiled command")
        observer = self._observer(release)
        with self._streams() as streams:
            percent = slowdown.predicted_percent(observer.count(counting, streams[0]), chosen)
            slowdown.require(percent, slowdown.MOST_PERCENT)
        with self._streams() as streams:
            reading, found = observer.observe_aside(chosen, streams)
        _require_success(reading)
        body = {"release": release, "functions": list(patterns), "slowdown_percent": percent}
        return body | described(found, phases.by_phase(found, chosen))

    def _observer(self, release: str) -> guest.Observer:
        program = self.line.program
        return guest.Observer(
            guest=lab_guest.stock(),
            release=release,
            argv=program.profile,
            directory=self.folder,
            environment=execution.environment(program.environment),
        )

    @contextmanager
    def _streams(self) -> Iterator[tuple[int, int, int]]:
        """The program's input, and a log for what it says."""
        named = self.line.program.profile_input
        given = self.folder / named if named else Path(os.devnull)
        with given.open("rb") as stdin, self.line.places.log("observe").open("wb") as log:
            yield stdin.fileno(), log.fileno(), log.fileno()


def _require_success(reading: Reading) -> None:
    if reading.result.status:
        raise GuestError(
            f"the profiled command ended with status {reading.result.status} in the lab; "
            "logs/observe.log has what it said"
        )


def described(found: Results, by_phase: list[Phase]) -> dict[str, Any]:
    """The phases with their functions, those first in which tasks were longest. Times are in us."""
    return {
        "phases": [_phase(each, found.costs) for each in by_phase if each.functions],
        "correction": table.correction(by_phase, found.costs),
    }


def _phase(phase: Phase, costs: Costs) -> dict[str, Any]:
    functions = sorted(phase.functions.values(), key=table.weight)
    return {
        "phase": None if phase.number == NO_PHASE else phase.number,
        "tasks": phase.tasks,
        "elapsed_us": costs.ns(phase.elapsed) / KILO,
        "ran_us": costs.ns(phase.ran) / KILO,
        "functions": [_function(each, phase, costs) for each in functions[:MOST]],
        "others": len(functions[MOST:]),
    }


def _function(each: Function, phase: Phase, costs: Costs) -> dict[str, Any]:
    return {
        "function": each.instrument.function,
        "calls": each.calls,
        "own_us": costs.ns(each.own) / KILO,
        "inclusive_us": costs.ns(each.inclusive) / KILO,
        "share": each.inclusive / phase.ran if phase.ran else 0.0,
        "waited": table.waited(each, costs),
        "bytes": each.bytes,
    }


def _code() -> Iterator[str]:
    """Fingerprints of what the observation depends on."""
    for module in (guest, instruments, modules, phases, slowdown, table):
        yield fingerprint(Path(str(module.__file__)))
    yield fingerprint(resources.built(guest.PROBE))
    yield fingerprint(resources.home() / "kadapt/driver/probe")
    yield fingerprint(Path(__file__))
