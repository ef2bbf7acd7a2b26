# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the cost of profiling in time and memory: kbbv and counters inserted by the compiler.

In every round a program runs in every way, one after the other, so that other work on the machine
affects all ways alike. The slowest tools take part in fewer rounds. A ratio is the median of the
rounds' ratios. The output must equal the native run's byte for byte, and the run must leave a
profile.
"""

import argparse
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.base import suite
from bench.base.keeping import with_disturbance
from bench.base.suite import Subject, Suite
from bench.profiler import profiler_tables
from bench.profiler.profiler_ways import Way, settings, ways
from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.measurement import execution
from kadence.measurement.execution import Sample
from kadence.profiler import kprof


class WrongRunError(KadenceError):
    """A run failed, or did not do what the bench measures."""


@dataclass
class Bench:
    """The programs, the ways to run them, and a folder to run in."""

    suite: Suite
    subjects: Sequence[Subject]
    ways: Sequence[Way]
    scratch: Path
    outputs: dict[str, bytes] = field(default_factory=dict)  # by program
    # By program and way: the instructions in the profile of the first run.
    instructions: dict[tuple[str, str], int] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.scratch / "run"

    def build(self) -> None:
        for subject in self.subjects:
            for variant in dict.fromkeys(way.variant for way in self.ways):
                self.suite.build(subject, variant, settings(variant))

    def measured(self, subject: Subject, count: int) -> dict[str, list[Sample]]:
        """Do one native run that is not counted, then `count` rounds of every way."""
        found: dict[str, list[Sample]] = {way.name: [] for way in self.ways}
        self.run(subject, self.ways[0])
        for number in range(count):
            for way in self.ways:
                if number < way.rounds:
                    found[way.name].append(self.run(subject, way))
        return found

    def run(self, subject: Subject, way: Way) -> Sample:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        command = self.suite.command(subject, way.variant)
        ending = execution.run(
            way.wrap(command),
            self.folder,
            image=None,
            scratch=self.scratch,
            environment={
                **execution.environment(),
                **subject.environment,
                **way.environment,
            },
        )
        what = f"{' '.join(command)} ({way.name})"
        if ending.status:
            said = (self.scratch / "stderr").read_text(errors="replace").strip()
            raise WrongRunError(f"{what} ended with status {ending.status}: {said[-200:]}")
        output = (self.scratch / "stdout").read_bytes()
        if self.outputs.setdefault(subject.name, output) != output:
            raise WrongRunError(f"the output of {what} is not that of the native program")
        if way.leaves and not any(file.stat().st_size for file in self.folder.glob(way.leaves)):
            raise WrongRunError(f"{what} left no {way.leaves}")
        if way.profiles and (subject.name, way.name) not in self.instructions:
            profile = kprof.read(self.folder / way.leaves)
            self.instructions[subject.name, way.name] = int(profile.instructions.sum())
        return ending.sample


def told(bench: Bench, count: int) -> Iterator[str]:
    """Yields a program's table as soon as it is measured, then the summary of all."""
    yield from profiler_tables.head()
    found = {}
    for subject in bench.subjects:
        found[subject.name] = bench.measured(subject, count)
        yield from profiler_tables.program(subject, found[subject.name], bench.instructions)
    yield from profiler_tables.summary(found, {one.name: one.kind for one in bench.subjects})


def main() -> int:
    """Build, measure and print. A missed target is not a failure of the bench."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="counted rounds (default 5)")
    parser.add_argument("--only", default="", help="programs whose name this expression matches")
    options = parser.parse_args()
    subjects = [one for one in suite.SUBJECTS if re.search(options.only, one.name)]
    if options.rounds < 1 or not subjects:
        parser.error("at least one round of one program is needed")
    output = resources.home() / "build" / "bench" / "profiler"
    scratch = output / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    bench = Bench(Suite(output), subjects, ways(scratch / "run", scratch), scratch)
    bench.build()
    for line in with_disturbance(told(bench, options.rounds)):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-profiler: {error}")
