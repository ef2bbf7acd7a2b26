# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the predicted cost of User-Mode Linux for programs with the measured cost.

Each program is profiled and timed, and its factor is predicted from these. Then it runs on this
machine's own kernel and on the generic User-Mode Linux kernel, in turn. Programs are plain, so the
figures do not include what a plan would save.

A factor is the ratio of the program's own times, without a guest's start and end. Beside it stands
the ratio of processor times, which other work on the machine disturbs less. It includes everything
that a guest's kernel takes of this machine, minus the cost of a guest that does nothing.
"""

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.base.keeping import print_and_keep, with_disturbance
from bench.predict import predict_inputs
from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.boot import costs
from kadence.kconfig.store.build import BuildRequest, build
from kadence.kconfig.store.store import Kernel
from kadence.measurement import execution
from kadence.measurement.execution import Sample
from kadence.phases import analysis
from kadence.phases.artefact import document
from kadence.prediction import demand, prediction
from kadence.prediction.prediction import Prediction, Timed
from kadence.profiler.run import runner

ROUNDS, TIMED_RUNS = 5, 2


@dataclass(frozen=True)
class Subject:
    """A program with its arguments."""

    name: str
    argv: tuple[str, ...]


def example(name: str, *arguments: str) -> Subject:
    """Returns one of this project's examples, built plain."""
    return Subject(name, (str(resources.home() / "build/examples" / name / name), *arguments))


SUBJECTS = (
    example("heat", "-s", "600", "-e", "60"),
    example("lu", "900", "1"),
    example("fft", "-n", "18", "-s", "6"),
    example("ring", "4", "10", "200", "1000000"),
    Subject("minimap2", ("minimap2", "-t", "1", "-c", "-x", "map-ont", "genome.fa", "reads.fa")),
    Subject("seqtk", ("seqtk", "seq", "-r", "short.fa")),
    Subject("hmmsearch", ("hmmsearch", "--cpu", "0", "family.hmm", "proteins.fa")),
    Subject("gzip", ("gzip", "-9", "-c", "genome.fa")),
    Subject("xz", ("xz", "-3", "-c", "genome.fa")),
    Subject("bzip2", ("bzip2", "-c", "genome.fa")),
    Subject("sqlite3", ("sqlite3", "rows.db", ".read rows.sql")),
    Subject("find", ("find", "/usr/share", "-size", "+100000k")),
)
NOTHING = Subject("nothing", ("true",))


@dataclass
class Measured:
    """The prediction and the samples of one program."""

    subject: Subject
    predicted: Prediction
    nothing: Sample  # of a guest that does nothing
    own: list[Sample]
    guest: list[Sample]

    @property
    def factor(self) -> float:
        """The factor, by the median time of the program."""
        return _median(self.guest) / _median(self.own)

    @property
    def by_processors(self) -> float:
        """The factor, by the median processor time."""
        own, guest = (
            statistics.median(map(processor_seconds, each)) for each in (self.own, self.guest)
        )
        return (guest - processor_seconds(self.nothing)) / own

    @property
    def range(self) -> str:
        """The range of the factors of single rounds, as text."""
        pairs = zip(self.guest, self.own, strict=True)
        each = sorted(guest.program_seconds / own.program_seconds for guest, own in pairs)
        return f"{each[0]:.2f} to {each[-1]:.2f}"

    @property
    def off(self) -> float:
        """The predicted factor divided by the measured one: above 1, the prediction is too high."""
        return self.predicted.plain_factor / self.factor


def _median(samples: list[Sample]) -> float:
    return statistics.median(sample.program_seconds for sample in samples)


def processor_seconds(sample: Sample) -> float:
    """Returns the processor time of this machine."""
    return sample.machine_user_seconds + sample.machine_system_seconds


def run(subject: Subject, kernel: Kernel | None, folder: Path) -> Sample:
    """Run a program once, on a guest or on this machine."""
    ending = execution.run(
        subject.argv,
        folder,
        image=kernel.image if kernel else None,
        scratch=folder,
        environment=execution.environment(),
        timeout_seconds=600,
    )
    if ending.status:
        raise KadenceError(f"{subject.name} ended with status {ending.status}")
    return ending.sample


def predicted(subject: Subject, kernel: Kernel, folder: Path) -> Prediction:
    """Predict from a profile and some runs on this machine's own kernel."""
    place = folder / f"{subject.name}.kprof"
    with (folder / "said").open("wb") as said, (folder / "said").open("rb") as nothing:
        runner.profile(subject.argv, place, cwd=folder, stdin=nothing, stdout=said, stderr=said)
    phases = place.with_suffix(".phases.json")
    analysis.run(place, phases)
    asked = demand.of(document.load(phases), None)
    runs = [run(subject, None, folder) for _ in range(TIMED_RUNS)]
    there = costs.of_guest(kernel.image, kernel.id, kernel.target)
    return prediction.predict(asked, timed(runs), costs.own(), there, kernel.target)


def timed(runs: list[Sample]) -> Timed:
    """Returns the times of the quickest run."""
    best = min(runs, key=lambda sample: sample.program_seconds)
    return Timed(best.program_seconds, best.user_seconds + best.system_seconds)


def measured(subject: Subject, kernel: Kernel, folder: Path, rounds: int) -> Measured:
    """Measure both kernels in turn, after a round that is not counted."""
    nothing = min((run(NOTHING, kernel, folder) for _ in range(TIMED_RUNS)), key=processor_seconds)
    found = Measured(subject, predicted(subject, kernel, folder), nothing, [], [])
    for number in range(rounds + 1):
        own, guest = run(subject, None, folder), run(subject, kernel, folder)
        if number:
            found.own.append(own)
            found.guest.append(guest)
    return found


def lines(pattern: str, rounds: int) -> Iterator[str]:
    """Yields a line for each program as soon as it is measured, then the summary."""
    kernel = build(BuildRequest(kind="generic"))
    yield from prices(kernel)
    yield (
        f"{'':12}{'own kernel, s':>14}{'UML, s':>9}{'predicted':>11}{'measured':>10}  {'rounds':16}"
        f"{'predicted/measured':>18}{'by processor time':>19}{'predicted/that':>16}"
    )
    found = []
    with tempfile.TemporaryDirectory(prefix="kadence-predict-") as name:
        folder = Path(name)
        predict_inputs.write(folder)
        build_model(folder)
        for subject in SUBJECTS:
            if re.search(pattern, subject.name):
                found.append(measured(subject, kernel, folder, rounds))
                yield told(found[-1])
    yield from summary(found, rounds)


def build_model(folder: Path) -> None:
    """Build the model that hmmsearch searches for."""
    words = ["hmmbuild", "family.hmm", "family.sto"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)


def prices(kernel: Kernel) -> Iterator[str]:
    """Yields the costs of both kernels."""
    own, there = costs.own(), costs.of_guest(kernel.image, kernel.id, kernel.target)
    estimated = costs.estimated_um()
    yield f"nanoseconds, on this machine's own kernel and on User-Mode Linux ({kernel.id})"
    yield f"{'':14}{'own kernel':>12}{'UML':>12}{'estimated':>12}"
    for charge, what in costs.CHARGES.items():
        each = f"{own.of(charge):>12,.1f}{there.of(charge):>12,.0f}{estimated.of(charge):>12,.0f}"
        yield f"{charge:14}{each}  {what}"
    yield f"{costs.TRACE:14}{own.of(costs.TRACE):>12,.1f}"
    yield ""


def told(found: Measured) -> str:
    """Returns the line of a program."""
    return (
        f"{found.subject.name:12}{_median(found.own):>14.3f}{_median(found.guest):>9.3f}"
        f"{found.predicted.plain_factor:>11.2f}{found.factor:>10.2f}  {found.range:16}"
        f"{found.off:>18.2f}{found.by_processors:>19.2f}"
        f"{found.predicted.plain_factor / found.by_processors:>16.2f}"
    )


def summary(found: list[Measured], rounds: int) -> Iterator[str]:
    """Yields the errors of the predictions, and how many fall on the right side of the bound."""
    if not found:
        return
    yield ""
    yield f"medians of {rounds} rounds, interleaved"
    for what, factors in (
        ("measured", [each.factor for each in found]),
        ("by processor time", [each.by_processors for each in found]),
    ):
        both = [
            (each.predicted.plain_factor, factor)
            for each, factor in zip(found, factors, strict=True)
        ]
        ratios = sorted(one / other for one, other in both)
        right = sum((one > prediction.BOUND) == (other > prediction.BOUND) for one, other in both)
        yield (
            f"predicted/{what}: median {statistics.median(ratios):.2f}, {ratios[0]:.2f} to "
            f"{ratios[-1]:.2f}; on the same side of {prediction.BOUND}: {right} of {len(found)}"
        )


def main() -> int:
    """Measure, print each line as soon as it is known, and keep the output."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="programs whose name this matches")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    print_and_keep(with_disturbance(lines(options.only, options.rounds)), "predict.txt")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-predict: {error}")
