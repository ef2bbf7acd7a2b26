# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the kernel time that profiles and prices predict with the kernel time that was measured.

Each program of predict.py is profiled, and run on this machine's own kernel. Beside the predicted
and the measured seconds stand the kernel's share of the run and the ceiling, with their intervals.
"""

import argparse
import os
import re
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.base.keeping import print_and_keep, with_disturbance
from bench.predict import predict_inputs
from bench.predict.predict import SUBJECTS, Subject, build_model, run
from kadence.base.errors import KadenceError
from kadence.measurement.shares import in_words
from kadence.phases import analysis
from kadence.phases.artefact import document
from kadence.prediction.ceiling import Ceiling
from kadence.profiler.run import runner
from kadence.specialize import explaining

RUNS = 9
TICK = 1 / os.sysconf("SC_CLK_TCK")  # seconds


@dataclass(frozen=True)
class Found:
    """A program, and its ceiling."""

    subject: Subject
    ceiling: Ceiling

    @property
    def off(self) -> float | None:
        """The predicted kernel time divided by the measured one; None if no tick met the kernel."""
        kernel = self.ceiling.run.kernel
        return self.ceiling.priced / kernel if kernel * self.ceiling.run.runs >= TICK else None

    def __str__(self) -> str:
        seconds = self.ceiling.run.kernel_seconds
        interval = f"{seconds.low:.3f} to {seconds.high:.3f}"
        ratio = "-" if self.off is None else f"{self.off:.2f}"
        return (
            f"{self.subject.name:12}{self.ceiling.run.seconds:>8.3f}{self.ceiling.priced:>12.4f}"
            f"{seconds.value:>11.4f}  {interval:16}{ratio:>19}"
            f"{'no' if self.ceiling.is_off else 'yes':>8}"
            f"{in_words(self.ceiling.run.kernel_share):>24}{in_words(self.ceiling.run.most):>24}"
        )


def found(subject: Subject, folder: Path, runs: int) -> Found:
    """Profile a program, then run it."""
    place = folder / f"{subject.name}.kprof"
    with (folder / "said").open("wb") as said, (folder / "said").open("rb") as nothing:
        runner.profile(subject.argv, place, cwd=folder, stdin=nothing, stdout=said, stderr=said)
    phases = place.with_suffix(".phases.json")
    analysis.run(place, phases)
    samples = [run(subject, None, folder) for _ in range(runs)]
    of = document.load(phases)
    return Found(subject, explaining.explain(of, None, subject.argv, samples).found)


def lines(pattern: str, runs: int) -> Iterator[str]:
    """Yields a line for each program as soon as it is measured, then the summary."""
    yield (
        f"{'':12}{'run, s':>8}{'predicted':>12}{'measured':>11}  {'interval, s':16}"
        f"{'predicted/measured':>19}{'within':>8}{'kernel':>24}{'ceiling':>24}"
    )
    all_found = []
    with tempfile.TemporaryDirectory(prefix="kadence-ceiling-") as name:
        folder = Path(name)
        predict_inputs.write(folder)
        build_model(folder)
        for subject in SUBJECTS:
            if re.search(pattern, subject.name):
                all_found.append(found(subject, folder, runs))
                yield str(all_found[-1])
    if all_found:
        yield from summary(all_found, runs)


def summary(all_found: list[Found], runs: int) -> Iterator[str]:
    """Yields how far the predictions are off, in seconds of kernel time and in shares of runs."""
    ratios = sorted(each.off for each in all_found if each.off is not None) or [0.0]
    within = sum(not each.ceiling.is_off for each in all_found)
    shares = sorted(abs(each.ceiling.share(each.ceiling.unexplained)) for each in all_found)
    yield ""
    yield f"{runs} runs of each; seconds of kernel time in one run; intervals of 95 %"
    yield (
        f"predicted/measured: median {statistics.median(ratios):.2f}, {ratios[0]:.2f} to "
        f"{ratios[-1]:.2f}; within the measured interval: {within} of {len(all_found)}"
    )
    yield (
        f"share of the run by which they differ: median {statistics.median(shares):.1%}, at most "
        f"{shares[-1]:.1%}"
    )


def main() -> int:
    """Measure, print each line as soon as it is known, and keep the output."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="programs whose name this matches")
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    print_and_keep(with_disturbance(lines(options.only, options.runs)), "ceiling.txt")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-ceiling: {error}")
