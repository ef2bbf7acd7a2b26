# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence compare`: one program on several inputs, phase by phase.

It finds the phases of every input as `kadence phases` does, and aligns them. Then it calls the
program input-stable or input-dependent, and judges the markers that were chosen on one input on
the other inputs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from kadence.base import artefact, codec
from kadence.base.errors import ArtefactError, UsageError
from kadence.phases import analysis
from kadence.phases.artefact import document
from kadence.phases.compare import alignment, crossmatrix, slices, stability
from kadence.phases.compare.alignment import Families
from kadence.phases.compare.common_rows import CommonRows, common_rows
from kadence.phases.compare.stability import Input
from kadence.phases.describe import kinds
from kadence.phases.find import matrix, vectors
from kadence.phases.find.hierarchy import Joining
from kadence.phases.find.segmentation import Segmentation, segment
from kadence.phases.find.vectors import Distances
from kadence.phases.mark import markers
from kadence.phases.mark.validation import Field, View
from kadence.phases.plan.common_sites import Sites
from kadence.profiler import kprof
from kadence.profiler.format.profile import Profile

Body = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """One input's run, with its description by `kadence phases`."""

    path: Path
    profile: Profile
    segmentation: Segmentation
    description: Body

    @cached_property
    def joinings(self) -> tuple[Joining, ...]:
        return document.parse(self.description, self.path).hierarchy.joinings

    @property
    def markers(self) -> list[Body]:
        """The markers of its phases and of its joined phases."""
        return [*self.description["markers"], *self.description["hierarchy"]["markers"]]


@dataclass(frozen=True)
class Aligned:
    """The runs over a common table of blocks."""

    rows: list[CommonRows]
    families: list[Families]
    distances: dict[tuple[int, int], Distances]  # from the phases of one run to those of another


def run(
    paths: Sequence[Path],
    output: Path,
    matrix_path: Path | None = None,
    annotated_path: Path | None = None,
) -> Body:
    """Read the profiles, write the artefact and the pictures asked for; returns the body."""
    if len(paths) < 2:
        raise UsageError("comparing takes two profiles or more; give one for each input")
    runs = [_read(path) for path in paths]
    _require_one_program(runs)
    aligned = align(runs)
    body = describe(runs, aligned)
    if matrix_path or annotated_path:
        _draw(runs, aligned, matrix_path, annotated_path)
    command = ["kadence", "compare", *map(str, paths), "-o", str(output)]
    artefact.write(output, artefact.COMPARE, runs[0].profile.build_id, command, body)
    return body


def _read(path: Path) -> Run:
    profile = kprof.read(path)
    segmentation = segment(profile)
    return Run(path, profile, segmentation, analysis.describe(profile, segmentation))


def _require_one_program(runs: Sequence[Run]) -> None:
    first, *others = runs
    for other in others:
        if other.profile.build_id != first.profile.build_id:
            raise ArtefactError(
                f"{first.path} and {other.path} are of different programs (build-ids "
                f"{first.profile.build_id} and {other.profile.build_id}); profile one and the "
                "same build with both inputs"
            )


def align(runs: Sequence[Run]) -> Aligned:
    """Put the runs over a common table of blocks, and find the families of their phases."""
    rows = common_rows([run.profile for run in runs])
    representatives = [
        own[list(run.segmentation.representatives)] for own, run in zip(rows, runs, strict=True)
    ]
    distances = {
        (of, against): vectors.pairwise(representatives[of], representatives[against])
        for of, against in permutations(range(len(runs)), 2)
    }
    return Aligned(rows, alignment.families(representatives), distances)


def describe(runs: Sequence[Run], aligned: Aligned) -> Body:
    """The body of the comparison."""
    inputs = [
        Input(
            np.array([phase["weight"] for phase in run.description["phases"]]),
            tuple(phase["kind"] for phase in run.description["phases"]),
            families,
        )
        for run, families in zip(runs, aligned.families, strict=True)
    ]
    comparisons = stability.compare(inputs, aligned.distances, _held(runs, aligned.rows, inputs))
    views = _views(runs, aligned)
    return {
        "verdict": stability.verdict(comparisons),
        "unknown": max(comparison.unknown for comparison in comparisons),
        "allowed": stability.UNKNOWN_AT_MOST,
        "inputs": [
            _input(run, families) for run, families in zip(runs, aligned.families, strict=True)
        ],
        "pairs": [
            asdict(comparison)
            | {
                "distances": aligned.distances[comparison.of, comparison.against].tolist(),
                **_boundaries(views[comparison.of, comparison.against]),
            }
            for comparison in comparisons
        ],
        "markers": _markers(runs, views),
    }


def _boundaries(view: View) -> Body:
    """Count the boundaries in the other run's phases, and after each of that run's joinings."""
    joinings = range(1, len(view.joinings) + 1)
    return {
        "boundaries": view.boundaries(),
        "joined_boundaries": [view.boundaries(count) for count in joinings],
    }


def _held(
    runs: Sequence[Run], rows: Sequence[CommonRows], inputs: Sequence[Input]
) -> dict[tuple[int, int], stability.Mask]:
    """For each pair of inputs: the phases of one that the other holds within its own phases."""
    representatives, shares = [], []
    for run, own in zip(runs, rows, strict=True):
        found = run.segmentation
        chosen = list(found.representatives)
        in_blocks = analysis.instructions_by_block(
            run.profile, found.assignment, found.transition, len(chosen)
        )
        representatives.append(own[chosen])
        shares.append(own.placed(in_blocks / run.profile.instructions.sum()))
    return {
        (of, against): slices.held(
            representatives[of], inputs[of].kinds, shares[against], inputs[against].kinds
        )
        for of, against in permutations(range(len(runs)), 2)
    }


def _input(run: Run, families: Families) -> Body:
    description = run.description
    return {
        "profile": str(run.path),
        "program": description["program"],
        "interval": description["interval"],
        "intervals": description["intervals"],
        "instructions": int(run.profile.instructions.sum()),
        "phases": [
            {
                "id": phase["id"],
                "family": int(family),
                "weight": phase["weight"],
                "kind": phase["kind"],
                "representative": phase["representative"],
                "boundaries": len(
                    markers.boundaries_into(run.segmentation.boundaries, phase["id"])
                ),
                "hottest": phase["hottest"][0],
            }
            for phase, family in zip(description["phases"], families, strict=True)
        ],
        "sites": codec.encode(Sites.of(description, run.path)),
    }


def _views(runs: Sequence[Run], aligned: Aligned) -> dict[tuple[int, int], View]:
    """Every input seen in the phases of every other: `views[of, against]`."""
    fields = [
        Field(run.profile, run.segmentation, rows)
        for run, rows in zip(runs, aligned.rows, strict=True)
    ]
    return {
        (of, against): fields[of].seen_from(
            aligned.rows[against][list(runs[against].segmentation.representatives)],
            runs[against].joinings,
        )
        for of, against in permutations(range(len(runs)), 2)
    }


def _markers(runs: Sequence[Run], views: Mapping[tuple[int, int], View]) -> list[Body]:
    """Every input's markers, judged on every other input."""
    return [
        {"chosen_on": chosen_on, "judged_on": on} | views[on, chosen_on].judge(marker)
        for chosen_on, on in permutations(range(len(runs)), 2)
        for marker in runs[chosen_on].markers
    ]


def _draw(
    runs: Sequence[Run], aligned: Aligned, matrix_path: Path | None, annotated_path: Path | None
) -> None:
    picture = crossmatrix.cross_matrix(aligned.rows)
    if matrix_path:
        matrix.write(picture, matrix_path)
    if annotated_path:
        of_row = [
            np.where(
                run.segmentation.transition,
                matrix.TRANSITION,
                families[run.segmentation.assignment],
            )
            for run, families in zip(runs, aligned.families, strict=True)
        ]
        side = crossmatrix.along_side(of_row, matrix.NOTHING)
        captions = _captions(runs, aligned.families)
        matrix.write_annotated(picture, side, captions, annotated_path)


def _captions(runs: Sequence[Run], families: Sequence[Families]) -> list[str]:
    """A line for every family: its kind, and its weight in each input."""
    captions = []
    for family in range(int(max(own.max() for own in families)) + 1):
        weights, found = [], []
        for number, (run, own) in enumerate(zip(runs, families, strict=True)):
            for member in np.flatnonzero(own == family).tolist():
                phase = run.description["phases"][member]
                weights.append(f"{phase['weight']:.1%} of input {number}")
                found.append(kinds.in_words(phase["kind"]))
        named = " or ".join(dict.fromkeys(found))
        captions.append(f"{named}: {', '.join(weights)}")
    return captions
