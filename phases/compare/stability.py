# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a program does the same kinds of work whatever its input.

A plan says what the kernel should do in each phase and where each is announced. It holds for
another input if the plan knows that input's phases, however long each lasts. So the figure is the
share of the instructions in *unknown* phases: those that resemble no phase of the other input,
or only phases of another kind. The kind matters because the adaptation follows from it; compute
and unseen phases may be adapted alike. A phase is also known if the other input runs its code as a
part of other phases (slices.py), in other weights. The comparison also reports how much that is,
and how far the weights of phases moved, but neither decides anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt

from kadence.phases.compare.alignment import PARTNER_DISTANCE, Families
from kadence.phases.describe import kinds
from kadence.phases.find import vectors
from kadence.phases.find.vectors import Distances

STABLE, DEPENDENT = "input-stable", "input-dependent"
# As much as the markers may miss: 95 % of a run are to be as the plan says.
UNKNOWN_AT_MOST = 0.05

Weights = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Input:
    """The phases of one run, in the order of their numbers."""

    weights: Weights  # shares of the instructions
    kinds: tuple[str, ...]
    families: Families


@dataclass(frozen=True)
class Comparison:
    """One input seen from another."""

    of: int
    against: int
    unknown: float  # share of `of` in phases that `against` does not know.
    shift: float  # share of instructions that would have to move for equal weights.
    unknown_phases: tuple[int, ...] = ()  # phases of `of` that `against` does not know.
    scaled: float = 0.0  # share of `of` in phases that `against` has within other phases


def verdict(comparisons: Sequence[Comparison]) -> str:
    """Input-stable or input-dependent, by the largest share of unknown phases."""
    largest = max((comparison.unknown for comparison in comparisons), default=0.0)
    return STABLE if largest <= UNKNOWN_AT_MOST else DEPENDENT


def compare(
    inputs: Sequence[Input],
    distances: Mapping[tuple[int, int], Distances],
    held: Mapping[tuple[int, int], Mask],
) -> list[Comparison]:
    """Every input against every other.

    `distances[of, against]` are the distances between their phases. `held[of, against]` says which
    phases of `of` the input `against` holds within its own.
    """
    return [
        _compared(of, against, inputs, distances[of, against], held[of, against])
        for of, against in permutations(range(len(inputs)), 2)
    ]


def _compared(
    of: int, against: int, inputs: Sequence[Input], distances: Distances, held: Mask
) -> Comparison:
    own, other = inputs[of], inputs[against]
    resembled = _resembled(own, other, distances)
    known = resembled | held
    return Comparison(
        of,
        against,
        unknown=round(float(own.weights[~known].sum()), vectors.DECIMALS),
        shift=_shift(own, other),
        unknown_phases=tuple(np.flatnonzero(~known).tolist()),
        scaled=round(float(own.weights[held & ~resembled].sum()), vectors.DECIMALS),
    )


def _resembled(own: Input, other: Input, distances: Distances) -> Mask:
    """Which phases of an input resemble a phase of the other input."""
    alike = [[kinds.adapted_alike(kind, seen) for seen in other.kinds] for kind in own.kinds]
    return np.asarray(((distances < PARTNER_DISTANCE) & np.array(alike)).any(axis=1))


def _shift(own: Input, other: Input) -> float:
    """Total variation distance between the weights of families."""
    count = int(max(own.families.max(), other.families.max())) + 1
    weights = [
        np.bincount(side.families, weights=side.weights, minlength=count) for side in (own, other)
    ]
    return round(float(np.abs(weights[0] - weights[1]).sum()) / 2, vectors.DECIMALS)
