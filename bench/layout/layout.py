# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's programs laid out by Kadence's counts, beside plain builds and GCC's -fprofile-use.

    python -m bench.layout.layout [--rounds N] [--built] PROGRAM...

All builds of a program are trained on its profiled input and timed on the longer one, in turn; each
round begins with another build. The plain build runs twice, which shows the noise. GCC is measured
as it is, and without the values that it counts: Kadence, too, counts blocks alone. Output that
differs from the plain build's is an error. With --built, the builds of an earlier run are measured
once more.
"""

import argparse
import statistics
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.corpus.corpus_own import ratio, take
from bench.layout.builds import LAID_OUT, PLAIN, Builds
from kadence.base import resources
from kadence.base.errors import KadenceError, ToolError
from kadence.program import builds, program
from kadence.program.program import Program
from kadence.specialize.flags import slug

ROUNDS = 15
AGAIN, GCC, BLOCKS = "again", "gcc", "gcc blocks"
MODES = (AGAIN, LAID_OUT, GCC, BLOCKS)
COUNTING = "-fprofile-generate -fprofile-update=atomic"
USING = "-fprofile-use -fprofile-correction -Wno-missing-profile -Wno-coverage-mismatch"
USING_BLOCKS = f"{USING} -fno-profile-values -fno-vpt"


@dataclass(frozen=True)
class Training:
    """How long the trained run took, plain and counting itself."""

    plain: float
    kadence: float
    gcc: float


class Bench(Builds):
    """All builds of one program, with those of GCC's own counts."""

    def made(self) -> Training:
        """Build all, and return the times of training."""
        plain = self.plain()
        _, by_kadence = self.laid_out()
        by_gcc = self._counted_by_gcc()
        self._used_by_gcc(slug(GCC), USING)
        self._used_by_gcc(slug(BLOCKS), USING_BLOCKS)
        return Training(self.trained(plain), by_kadence, by_gcc)

    def _counted_by_gcc(self) -> float:
        """Names of GCC's counts have the folder in which the objects were made."""
        folder = self.built("gcc-own", None, flags=COUNTING)
        seconds = self.trained(folder)
        self.counts = {
            path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.gcda")
        }
        return seconds

    def _used_by_gcc(self, name: str, options: str) -> Path:
        """Build in the same folder, with the counts where the objects will be."""
        seeded = self.place / "seeded"
        builds.copy(self.source, seeded)
        for relative, content in self.counts.items():
            (seeded / relative).parent.mkdir(parents=True, exist_ok=True)
            (seeded / relative).write_bytes(content)
        folder = self.place / "gcc-own"
        builds.build(self.program, seeded, folder, self.log, None, options)
        kept = self.place / name
        builds.copy(folder, kept)
        return kept


def _folders(place: Path) -> dict[str, Path]:
    """The builds of a program. The plain one is measured twice."""
    return {mode: place / slug(PLAIN if mode == AGAIN else mode) for mode in (PLAIN, *MODES)}


def _percent(found: Mapping[str, float]) -> str:
    value, low, high = (100 * (found[name] - 1) for name in ("value", "low", "high"))
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"


class Rows:
    """The lines about all programs, and what their builds gained."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.ratios: dict[str, list[float]] = {mode: [] for mode in MODES}

    def measured(self, described: Program, place: Path, folders: Mapping[str, Path]) -> str:
        """A line about the builds of one program."""
        samples, differing = take(described, folders, place / "runs", self.rounds)
        if differing:
            raise ToolError(f"{described.name}: outputs differ: {', '.join(differing)}")
        found = {mode: ratio(samples, mode) for mode in MODES}
        for mode, each in found.items():
            self.ratios[mode].append(each["value"])
        seconds = sorted(sample.seconds for sample in samples[PLAIN])[self.rounds // 2]
        cells = [f"{mode}: {_percent(each)}" for mode, each in found.items()]
        texts = "  ".join(f"{cell:<36}" for cell in cells)
        return f"{described.name:<10} {seconds:6.2f} s  {texts}"

    def means(self) -> str:
        """A line about all programs."""
        cells = [
            f"{mode}: {100 * (statistics.geometric_mean(found) - 1):+.1f}"
            for mode, found in self.ratios.items()
        ]
        return f"{'geometric mean':<21}" + "  ".join(f"{cell:<36}" for cell in cells)


def _of_program(name: str, rows: Rows, *, built: bool) -> Iterator[str]:
    described = program.read(resources.home() / "bench/corpus" / name)
    place = resources.home() / "build/layout" / described.name
    if built:
        yield rows.measured(described, place, _folders(place))
        return
    bench = Bench(described, place)
    training = bench.made()
    yield rows.measured(described, place, _folders(place))
    yield (
        f"{'':<10} training: plain {training.plain:.2f} s, Kadence {training.kadence:.2f} s, "
        f"GCC {training.gcc:.2f} s"
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--built", action="store_true")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    print(f"time against the plain build, %, {options.rounds} rounds, median and 95 %", flush=True)
    rows, status = Rows(options.rounds), 0
    for name in options.programs:
        try:
            for row in _of_program(name, rows, built=options.built):
                print(row, flush=True)
        except KadenceError as error:
            print(f"{name:<10} {error}", flush=True)
            status = 1
    if rows.ratios[LAID_OUT]:
        print(rows.means())
    return status


if __name__ == "__main__":
    sys.exit(main())
