# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the adapted program with the plain one, and the plain one with itself, on this machine.

    corpus_own.py FOLDER OUTPUT ROUNDS BUILDS

BUILDS is `make`, or `keep` if `kadence specialize` has already made the builds.

Plain, plain again and adapted run in turn, and each round begins with a different one. The
difference that the plain program shows against itself is noise of this machine.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kadence import artefact, outputs, pipeline, plain_runs, program, statistics
from kadence.errors import KadenceError, ToolError
from kadence.execution import Sample
from kadence.measure import ADAPTED, PLAIN
from kadence.neighbours import Neighbours
from kadence.pipeline import Wish
from kadence.places import Places
from kadence.program import Program
from kadence.stages import Stages, alone_in, tell

AGAIN = "again"  # the plain program, once more
MODES = (PLAIN, AGAIN, ADAPTED)
OWN = "own.json"
MAKE, KEEP = "make", "keep"


def main(folder: str, output: str, rounds: str, builds: str = "make") -> int:
    described = program.read(Path(folder))
    places = Places(Path(output).resolve(), described.name)
    try:
        with alone_in(places.output):
            if builds == MAKE:
                prepare(described, places)
            elif not places.build(ADAPTED).is_dir():
                return 0  # `kadence specialize` left the build out, and its report says why
            found = measure(described, places, int(rounds))
            with artefact.atomic_output(places.output / OWN) as temporary:
                temporary.write_text(json.dumps(found, indent=1), encoding="utf-8")
    except KadenceError as error:
        tell(str(error))
        return error.exit_status
    return 0


def prepare(described: Program, places: Places) -> None:
    """Make both builds, as `kadence specialize` makes them without kernels."""
    stages = Stages(places.output)
    prepared = pipeline.prepare(described, places, stages, Wish(), lambda *_: None, at_once=False)
    if ADAPTED not in prepared.made.modes:
        raise ToolError(" ".join(map(str, prepared.left_out)))


def measure(described: Program, places: Places, rounds: int) -> dict[str, Any]:
    """Returns medians of each mode, ratios to plain, and outputs that differ from the first run."""
    samples: dict[str, list[Sample]] = {mode: [] for mode in MODES}
    checksums: dict[str, str] = {}
    differing: set[str] = set()
    around = Neighbours()
    for number in range(rounds + 1):
        for mode in _rotated(number):
            folder = places.build(ADAPTED if mode == ADAPTED else PLAIN)
            sample, written = plain_runs.measured(described, folder, places.output / "own", mode)
            found = outputs.checksums(described, written)
            checksums = checksums or found
            differing |= {f"{name} ({mode})" for name in found if found[name] != checksums[name]}
            if number > 0:
                samples[mode].append(sample)
    seconds = {mode: [sample.seconds for sample in samples[mode]] for mode in MODES}
    return {
        "rounds": rounds,
        "others": around.share(),  # other work's share of the processors during the measurement
        "differing": sorted(differing),
        "medians": {mode: _medians(samples[mode]) for mode in MODES},
        "adapted": asdict(statistics.paired_ratio(seconds[ADAPTED], seconds[PLAIN])),
        "again": asdict(statistics.paired_ratio(seconds[AGAIN], seconds[PLAIN])),
    }


def _rotated(number: int) -> Iterator[str]:
    start = number % len(MODES)
    yield from (*MODES[start:], *MODES[:start])


def _medians(samples: list[Sample]) -> dict[str, float]:
    names = ("seconds", "minor_faults", "max_resident_bytes")
    return {
        name: statistics.median([getattr(sample, name) for sample in samples]).value
        for name in names
    }


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
