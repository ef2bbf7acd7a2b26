# SPDX-License-Identifier: GPL-2.0-or-later
"""Joins phases that are alike into coarser ones, the nearest first.

Phases are joined as the intervals were (tree.py): by average linkage. Each interval counts, and
stands with the representative of its phase. So the distance of two joined phases is
d(A, B) = sum of n_a n_b d(a, b) / (n_A n_B), over the phases a of A and b of B, with n intervals
each; where A and B have been joined, their distance to C is the weighted mean of theirs (Lance
and Williams 1967). Without the weights, a phase of a few intervals would draw a joined phase as far
as one that most of the run is in.

Only phases for which the kernel may do the same are joined: those of one kind that both, or
neither, make other processes.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kadence.phases import vectors
from kadence.phases.segmentation import Boundary, Segmentation
from kadence.phases.vectors import Distances

Counts = npt.NDArray[np.int64]
Groups = npt.NDArray[np.int64]  # of every phase, the number of the joined phase it is in


@dataclass(frozen=True)
class Joining:
    """Two phases become one, which gets the next number after those of the phases and joinings."""

    number: int
    of: tuple[int, int]
    members: tuple[int, ...]  # phases
    distance: float
    kept: float  # of the distances between the phases, what those that are left now still tell


def join(
    distances: Distances, intervals: Counts, policy_classes: Sequence[Hashable]
) -> list[Joining]:
    """Join all that may be joined; phases of different classes are not."""
    count = len(intervals)
    numbers, sizes = list(range(count)), intervals.astype(np.float64)
    groups = np.arange(count)
    apart = _apart(distances, policy_classes)
    found: list[Joining] = []
    while np.isfinite(apart).any():
        nearest = np.round(apart, vectors.DECIMALS).argmin()
        first, second = sorted(int(place) for place in np.unravel_index(nearest, apart.shape))
        distance = round(float(apart[first, second]), vectors.DECIMALS)
        of = min(numbers[first], numbers[second]), max(numbers[first], numbers[second])
        members = np.flatnonzero(np.isin(groups, of))
        numbers[first] = groups[members] = count + len(found)
        _merge(apart, sizes, first, second)
        kept = _kept(distances, intervals, groups)
        found.append(Joining(numbers[first], of, tuple(members.tolist()), distance, kept))
    return found


def _apart(distances: Distances, policy_classes: Sequence[Hashable]) -> Distances:
    """The distances, infinite where there is nothing to join."""
    apart = distances.astype(np.float64)
    for first, one in enumerate(policy_classes):
        for second, other in enumerate(policy_classes):
            if first == second or one != other:
                apart[first, second] = np.inf
    return apart


def _merge(apart: Distances, sizes: Distances, first: int, second: int) -> None:
    """Let `first` stand for both, and `second` for nothing."""
    total = sizes[first] + sizes[second]
    mean = (sizes[first] * apart[first] + sizes[second] * apart[second]) / total
    apart[first] = apart[:, first] = mean
    apart[second] = apart[:, second] = np.inf
    apart[first, first] = np.inf
    sizes[first] = total


def _kept(distances: Distances, intervals: Counts, groups: Groups) -> float:
    """1 where no phases are joined, 0 where all are.

    It is 1 - W / T: W is the mean distance of the phases' representatives from the medoid of
    the joined phase they are in, T that from the medoid of all (as R^2, with distances).
    """
    total = _from_medoid(distances, intervals, np.arange(len(groups)))
    if total == 0:
        return 1.0
    within = sum(
        _from_medoid(distances, intervals, np.flatnonzero(groups == group))
        for group in np.unique(groups)
    )
    return max(round(1 - within / total, vectors.DECIMALS), 0.0)


def _from_medoid(distances: Distances, intervals: Counts, members: Groups) -> float:
    return float((distances[np.ix_(members, members)] @ intervals[members]).min())


def groups_of(count: int, joinings: Sequence[Joining], labels: int = 0) -> Groups:
    """In which of the joined phases each of `count` phases is after these joinings.

    Of more `labels` the others are phases that the joinings don't know, as another input's: these
    keep out of the joined phases' numbers.
    """
    groups = np.arange(max(count, labels))
    groups[count:] += count
    for joining in joinings:
        groups[list(joining.members)] = joining.number
    return groups


def relabelled(segmentation: Segmentation, groups: Groups) -> Segmentation:
    """The same run in these groups of its phases; boundaries within a group are none."""
    return replace(
        segmentation,
        assignment=groups[segmentation.assignment],
        boundaries=tuple(
            Boundary(boundary.row, before, int(groups[boundary.after]))
            for boundary in segmentation.boundaries
            if (before := None if boundary.before is None else int(groups[boundary.before]))
            != groups[boundary.after]
        ),
    )
