# SPDX-License-Identifier: GPL-2.0-or-later
"""Joins phases that are alike into coarser ones, the nearest first.

Phases are joined as the intervals were (tree.py): by average linkage. Each interval counts, with
its phase's representative in its place. So the distance of two joined phases is
d(A, B) = sum of n_a n_b d(a, b) / (n_A n_B), over the phases a of A and b of B, with n intervals
each. Once A and B are joined, their distance to C is the weighted mean of their own distances
to C (Lance and Williams 1967). Without the weights, a phase of a few intervals would move a
joined phase as far as a phase that holds most of the run.

Only phases that the kernel may treat alike are joined: they have the same kind, and both or
neither of them make other processes.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import numpy.typing as npt

from kadence.base.codec import Key
from kadence.phases.find import vectors
from kadence.phases.find.segmentation import Boundary, Segmentation
from kadence.phases.find.vectors import Distances

Counts = npt.NDArray[np.int64]
Groups = npt.NDArray[np.int64]  # for every phase, the number of its joined phase


@dataclass(frozen=True)
class Joining:
    """Two phases become one, numbered after all phases and earlier joinings."""

    number: Annotated[int, Key("phase")]
    of: tuple[int, int]
    members: tuple[int, ...]  # phases
    distance: float
    kept: float  # share of the distances between phases that remains after it


def join(
    distances: Distances, intervals: Counts, policy_classes: Sequence[Hashable]
) -> list[Joining]:
    """Join phases until none are left that may be joined; classes are never mixed."""
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
    """The distances, infinite between phases that may not be joined."""
    apart = distances.astype(np.float64)
    for first, one in enumerate(policy_classes):
        for second, other in enumerate(policy_classes):
            if first == second or one != other:
                apart[first, second] = np.inf
    return apart


def _merge(apart: Distances, sizes: Distances, first: int, second: int) -> None:
    """Let `first` stand for both; `second` is unused from now on."""
    total = sizes[first] + sizes[second]
    mean = (sizes[first] * apart[first] + sizes[second] * apart[second]) / total
    apart[first] = apart[:, first] = mean
    apart[second] = apart[:, second] = np.inf
    apart[first, first] = np.inf
    sizes[first] = total


def _kept(distances: Distances, intervals: Counts, groups: Groups) -> float:
    """Return the share of the distances that is kept: 1 if no phases are joined, 0 if all are.

    It is 1 - W / T. W is the mean distance of the phases' representatives from the medoid of
    their joined phase, T that from the medoid of all (as R^2, with distances).
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
    """Return the number of the joined phase that holds each of `count` phases.

    Labels from `count` up to `labels` are phases that the joinings do not know, such as another
    input's. They are shifted by `count`, out of the way of the joined phases' numbers.
    """
    groups = np.arange(max(count, labels))
    groups[count:] += count
    for joining in joinings:
        groups[list(joining.members)] = joining.number
    return groups


def relabelled(segmentation: Segmentation, groups: Groups) -> Segmentation:
    """The same run in these groups of its phases, without the boundaries within a group."""
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
