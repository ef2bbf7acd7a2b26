# SPDX-License-Identifier: GPL-2.0-or-later
"""Two MPI ranks that wait for one another: what it costs if each tries a level by itself.

At the level a visit computes longer. One rank decides for both, so they try the level in the same
visits. For comparison they don't know of one another, and have a seed each: then each makes the
other wait, in visits that the other takes for plain ones.
"""

import argparse
import math
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.base.keeping import print_and_keep, with_disturbance
from bench.base.rows import aligned
from bench.trials import found
from kadence.base import resources
from kadence.base.errors import KadenceError, ToolError
from kadence.base.statistics import paired_ratio, rotated
from kadence.measurement import execution
from kadence.measurement.measure import RECORD

VISITS, RANKS = 600, 2
MPIRUN = ("mpirun", "--oversubscribe", "-n", str(RANKS))
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
ALONE = (
    'KADAPT_TRIALS_SEED="$1-$OMPI_COMM_WORLD_RANK" '
    'exec env -u OMPI_COMM_WORLD_LOCAL_SIZE "$2" "$3" "$4"'
)


@dataclass(frozen=True)
class Way:
    """Whether the ranks decide together, and how much longer a visit is at the level."""

    name: str
    percent: int
    is_alone: bool = False  # each rank decides for itself
    environment: tuple[tuple[str, str], ...] = ()


# Without the trials nothing is tried, and the level changes nothing: the plain time.
OFF = (("KADAPT_TRIALS", "off"),)
WAYS = (
    Way("no effect, no trials", 0, environment=OFF),
    Way("no effect, no trials, again", 0, environment=OFF),
    Way("no effect, together", 0),
    Way("20 % longer, together", 20),
    Way("20 % longer, each alone", 20, is_alone=True),
)
HEADS = ("", "wall time / plain", "effect", "blocks a run", "turned off", "visits until off")


def run(way: Way, number: int, folder: Path) -> tuple[float, Path]:
    """Run the ranks once; returns the seconds and the record of all ranks."""
    program = str(resources.built("bench/trials/planted/ranks"))
    record = folder / f"{WAYS.index(way)}-{number}.jsonl"
    record.unlink(missing_ok=True)
    words = [program, str(VISITS), str(way.percent)]
    if way.is_alone:
        words = ["sh", "-c", ALONE, "sh", str(number), *words]
    more = {**AS_ROOT, **dict(way.environment), RECORD: str(record)}
    environment = execution.environment(more.items())
    ending = execution.run(
        [*MPIRUN, *words], folder, image=None, scratch=folder, environment=environment
    )
    if ending.status:
        raise ToolError(f"the ranks ended with status {ending.status}; see {folder / 'stderr'}")
    return ending.sample.program_seconds, record


def row(way: Way, seconds: Mapping[Way, Sequence[float]], paths: Sequence[Path]) -> list[str]:
    """The cells of one way."""
    ratio = paired_ratio(seconds[way], seconds[WAYS[0]])
    records = [one for one in found.records(paths) if one.blocks]  # of ranks that decide
    effects = [block.difference for one in records for block in one.blocks]
    off = [visits for one in records if (visits := found.visits_until_off(one)) is not None]
    return [
        way.name,
        str(ratio),
        f"{math.expm1(statistics.median(effects)):+.1%}" if effects else "",
        f"{len(effects) / len(paths):.1f}" if records else "",
        f"{len(off)} of {len(records)}" if records else "",
        f"{statistics.median(off):g}, worst {max(off)}" if off else "",
    ]


def lines(rounds: int) -> Iterator[str]:
    """Yields the table."""
    folder = resources.home() / "build/bench/trials/ranks"
    folder.mkdir(parents=True, exist_ok=True)
    seconds: dict[Way, list[float]] = {way: [] for way in WAYS}
    records: dict[Way, list[Path]] = {way: [] for way in WAYS}
    for number in range(rounds):
        for way in rotated(WAYS, number):
            took, record = run(way, number, folder)
            seconds[way].append(took)
            records[way].append(record)
    yield f"{RANKS} MPI ranks, {VISITS} visits with a barrier each, {rounds} rounds"
    yield from aligned([list(HEADS), *(row(way, seconds, records[way]) for way in WAYS)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    print_and_keep(with_disturbance(lines(options.rounds)), "trials-ranks.txt")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-trials-ranks: {error}")
