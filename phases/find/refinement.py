# SPDX-License-Identifier: GPL-2.0-or-later
"""Assigns every interval to the phase whose representative is nearest.

A tree's groups may be drawn out, so that an interval at the end of one group is nearer to the
middle of another. The two alternating steps of k-medoids correct that. Each interval goes to the
nearest representative; then each representative becomes the medoid of its new members (Kaufman
and Rousseeuw 1990, chapter 2, in Lloyd's order). No step increases the sum of the distances.
"""

from dataclasses import dataclass

import numpy as np

from kadence.phases.find import tree, vectors
from kadence.phases.find.tree import Labels
from kadence.phases.find.vectors import Distances, Normalised, Rows

MOST_ROUNDS = 10
MEDOID_OF = 1000  # members, evenly spaced, that are compared with one another
STRANGER = tree.STRANGER  # a row at least this far from every representative is in no phase


@dataclass(frozen=True)
class Settled:
    """For every row the nearest representative, and how far away it is."""

    representatives: Rows
    nearest: Labels
    distance: Distances


def settled(normalised: Normalised, core: Rows, representatives: Rows, labels: Labels) -> Settled:
    """Begin with these representatives, the medoids of the groups that `labels` gives to `core`.

    Core rows without a group have the label -1. Only core rows can be representatives.
    """
    everything = np.arange(normalised.shape[0])
    before = labels
    for rounds in range(1, MOST_ROUNDS + 1):
        nearest, distance = vectors.nearest(normalised, everything, normalised[representatives])
        now = np.where(distance[core] < STRANGER, nearest[core], -1)
        moved = _renewed(normalised, core, representatives, before, now)
        if rounds == MOST_ROUNDS or np.array_equal(moved, representatives):
            break
        representatives, before = moved, now
    return Settled(representatives, nearest, distance)


def _renewed(
    normalised: Normalised, core: Rows, representatives: Rows, before: Labels, now: Labels
) -> Rows:
    """New medoids for the groups that gained or lost a row; the others stay as they are."""
    changed = np.unique(np.concatenate([before[before != now], now[before != now]]))
    renewed = representatives.copy()
    for group in changed[changed >= 0]:
        renewed[group] = medoid(normalised, core[now == group])
    return renewed


def medoid(normalised: Normalised, members: Rows) -> int:
    """The member with the smallest summed distance to the others, from MEDOID_OF at most."""
    some = vectors.evenly(members, MEDOID_OF)
    once = np.ones(len(some), dtype=np.int64)
    return int(some[tree.medoid(vectors.among(normalised[some]), once, np.arange(len(some)))])
