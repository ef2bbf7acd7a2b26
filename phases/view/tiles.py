# SPDX-License-Identifier: GPL-2.0-or-later
"""Least, mean and greatest distance of the pairs in every tile of the similarity matrix.

A tile compares two groups of consecutive intervals. All groups have one size. In a run of up to
`EXACT_INTERVALS` a group is one interval, so a tile is a pair. In a longer run only `SAMPLES`
intervals of each group are compared. Every other interval is at most its group's `reach` away from
a sampled one. By the triangle inequality the distance of *any* pair is at least the tile's least
distance minus both reaches, and at most its greatest distance plus both. The page makes coarser
tiles from these, to show the whole run on a small screen.
"""

from dataclasses import dataclass

import numpy as np

from kadence.phases.find import vectors
from kadence.phases.find.vectors import Distances, Normalised, Rows

EXACT_INTERVALS = 3000
LARGEST_SIDE = 900  # groups along an axis of a longer run: about a screen's height in pixels
SAMPLES = 2


@dataclass(frozen=True)
class Tiles:
    """`least`, `mean` and `greatest` at [a, b] are over the sampled pairs of groups a and b."""

    group: int  # intervals in a group; the last group may have fewer
    least: Distances
    mean: Distances
    greatest: Distances
    reach: Distances  # per group
    sampled: Rows  # the intervals that were compared
    distances: Distances  # of all pairs of sampled intervals

    @property
    def exact(self) -> bool:
        """Whether every tile is a single pair."""
        return self.group == 1


def build(normalised: Normalised) -> Tiles:
    """Returns the tiles of a run."""
    count = normalised.shape[0]
    if count <= EXACT_INTERVALS:
        pairs = vectors.among(normalised[:])
        return Tiles(1, pairs, pairs, pairs, np.zeros(count), np.arange(count), pairs)
    group = -(-count // LARGEST_SIDE)
    sampled = _sampled(count, group)
    distances = vectors.among(normalised[sampled])
    starts = np.flatnonzero(np.diff(sampled // group, prepend=-1))
    sizes = np.diff(np.append(starts, len(sampled)))
    return Tiles(
        group=group,
        least=_reduced(np.minimum, distances, starts),
        mean=_reduced(np.add, distances, starts) / np.outer(sizes, sizes),
        greatest=_reduced(np.maximum, distances, starts),
        reach=_reach(normalised, sampled, group),
        sampled=sampled,
        distances=distances,
    )


def _sampled(count: int, group: int) -> Rows:
    first = np.arange(0, count, group)
    size = np.minimum(group, count - first)
    offsets = [(2 * number + 1) * size // (2 * SAMPLES) for number in range(SAMPLES)]
    return np.unique(np.concatenate([first + offset for offset in offsets]))


def _reduced(operation: np.ufunc, distances: Distances, starts: Rows) -> Distances:
    by_row = operation.reduceat(distances, starts, axis=0)
    return np.asarray(operation.reduceat(by_row, starts, axis=1))


def _reach(normalised: Normalised, sampled: Rows, group: int) -> Distances:
    """Returns each group's greatest distance of an interval to its nearest sampled interval."""
    count = normalised.shape[0]
    nearest = np.full(count, vectors.LARGEST_DISTANCE)
    groups = np.arange(count) // group
    starts = np.searchsorted(sampled, np.arange(0, count, group))
    sizes = np.diff(np.append(starts, len(sampled)))
    for number in range(SAMPLES):
        partner = sampled[starts + np.minimum(number, sizes - 1)][groups]
        nearest = np.minimum(nearest, _each_to(normalised, partner))
    return np.asarray(np.maximum.reduceat(nearest, np.arange(0, count, group)))


def _each_to(normalised: Normalised, partner: Rows) -> Distances:
    """Returns the distance of every interval to its partner."""
    found = np.zeros(len(partner))
    strip = 4096  # rows at a time, which bounds the memory for the differences
    for first in range(0, len(partner), strip):
        rows = slice(first, first + strip)
        difference = abs(normalised[rows] - normalised[partner[rows]])
        found[rows] = np.asarray(difference.sum(axis=1)).ravel()
    return found
