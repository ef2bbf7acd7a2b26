# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the adapted program with the plain one, and the plain one with itself, on this machine.

    corpus_own.py FOLDER OUTPUT ROUNDS BUILDS

BUILDS is `make`, or `keep` if `kadence specialize` has already made the builds.

Plain, plain again and adapted run in turn, and each round begins with a different one. The
difference that the plain program shows against itself is noise of this machine. If the adapted
program is slower by more than that, plain builds with moved code tell how much placement costs.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.corpus import corpus_moved
from bench.corpus.corpus_verdict import slower
from kadence.base import artefact, statistics
from kadence.base.errors import KadenceError, ToolError
from kadence.base.stages import Stages, alone_in
from kadence.base.terminal import tell
from kadence.measurement import plain_runs
from kadence.measurement.execution import Sample
from kadence.measurement.measure import ADAPTED, PLAIN
from kadence.measurement.neighbours import Neighbours
from kadence.program import outputs, program
from kadence.program.places import Places
from kadence.program.program import Program
from kadence.specialize import pipeline
from kadence.specialize.pipeline import Wish

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
    folders = {mode: places.build(ADAPTED if mode == ADAPTED else PLAIN) for mode in MODES}
    around = Neighbours()
    samples, differing = take(described, folders, places.output / "own", rounds)
    found = {
        "rounds": rounds,
        "others": around.share(),  # other work's share of the processors during the measurement
        "differing": differing,
        "medians": {mode: _medians(samples[mode]) for mode in MODES},
        "adapted": ratio(samples, ADAPTED),
        "again": ratio(samples, AGAIN),
    }
    return found | ({"moved": moved(described, places, rounds)} if slower(found) else {})


def moved(described: Program, places: Places, rounds: int) -> dict[str, Any]:
    """Returns the ratio to plain of each plain build whose code was moved."""
    builds = dict(corpus_moved.builds_of(described, places))
    folders = {PLAIN: places.build(PLAIN)} | builds
    samples, _ = take(described, folders, places.output / "own", rounds)
    return {mode: ratio(samples, mode) for mode in builds}


def take(
    described: Program, folders: Mapping[str, Path], scratch: Path, rounds: int
) -> tuple[dict[str, list[Sample]], list[str]]:
    """Returns the samples of each mode, and the outputs that differ from the first run's."""
    samples: dict[str, list[Sample]] = {mode: [] for mode in folders}
    checksums: dict[str, str] = {}
    differing: set[str] = set()
    for number in range(rounds + 1):
        for mode in statistics.rotated(tuple(folders), number):
            sample, written = plain_runs.measured(described, folders[mode], scratch, mode)
            found = outputs.checksums(described, written)
            checksums = checksums or found
            differing |= {f"{name} ({mode})" for name in found if found[name] != checksums[name]}
            if number > 0:
                samples[mode].append(sample)
    return samples, sorted(differing)


def ratio(samples: Mapping[str, list[Sample]], mode: str) -> dict[str, float]:
    """Returns the ratio of a mode's times to the plain program's."""
    taken, plain = ([sample.seconds for sample in samples[each]] for each in (mode, PLAIN))
    return asdict(statistics.paired_ratio(taken, plain))


def _medians(samples: list[Sample]) -> dict[str, float]:
    names = ("seconds", "minor_faults", "max_resident_bytes")
    return {
        name: statistics.median([getattr(sample, name) for sample in samples]).value
        for name in names
    }


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
