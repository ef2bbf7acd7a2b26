# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups of a long profile, without all of its pairs.

A sample forms the groups. Some points of each group, its outposts, stand for it, and every row is
compared with all outposts. Rows that are farther from the nearest outpost than the group's own
points resemble nothing in the sample. Some of these rows join the sample, and the search begins
again. So no behaviour is missed, however rare, and every distance is exact; docs/phases-method.md
says what is not exact.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.phases.find import tree, vectors
from kadence.phases.find.tree import Labels, Weights
from kadence.phases.find.vectors import Distances, Normalised, Rows

SAMPLE = 1000  # rows, evenly spaced
OUTPOSTS = 5  # of a group at most: its medoid, and the points farthest out
STRANGERS = 200  # unseen rows that join the sample in one round
MOST_ROUNDS = 6
# How much farther out a row may be than the group's sample: noise has a tail.
MARGIN = tree.SMALLEST_DIFFERENCE / 4


@dataclass(frozen=True)
class _Sample:
    """Positions in the core, and how many rows each stands for."""

    rows: Rows
    weights: Weights


@dataclass(frozen=True)
class _Founded:
    """Groups of a sample, their outposts, and how far their points are from these."""

    medoids: Rows
    outposts: Rows
    group_of_outpost: Labels
    reach: Distances  # of each group


def grouped(rows: Normalised, core: Rows, count: int | None = None) -> tuple[Labels, Rows]:
    """The group of each row of `core`, and the medoid of each group; positions in `core`."""
    sample = _evenly(len(core))
    distances: Distances | None = None
    for _ in range(MOST_ROUNDS):
        distances = vectors.among(rows[core[sample.rows]], distances)
        found = _found(distances, sample, count)
        outpost, distance = vectors.nearest(rows, core, rows[core[found.outposts]])
        labels = found.group_of_outpost[outpost]
        strangers = np.flatnonzero(distance > found.reach[labels] + MARGIN)
        if not len(strangers):
            break
        looked_at = vectors.evenly(strangers, SAMPLE)
        chosen = looked_at[_differing(rows[core[looked_at]], STRANGERS)]
        sample = _joined(sample, chosen, len(strangers))
    return labels, found.medoids


def _evenly(count: int) -> _Sample:
    edges = np.arange(SAMPLE + 1, dtype=np.int64) * count // SAMPLE
    return _Sample(edges[:-1], np.diff(edges))


def _found(distances: Distances, sample: _Sample, count: int | None) -> _Founded:
    labels = tree.grouped(distances, sample.weights, count)
    medoids: list[int] = []
    outposts: list[int] = []
    owners: list[int] = []
    reach: list[float] = []
    for group in range(labels.max() + 1):
        members = np.flatnonzero(labels == group)
        medoid = tree.medoid(distances, sample.weights, members)
        chosen, farthest = _outposts(distances[np.ix_(members, members)], members == medoid)
        medoids.append(medoid)
        outposts.extend(members[chosen])
        owners.extend([group] * len(chosen))
        reach.append(farthest)
    return _Founded(sample.rows[medoids], sample.rows[outposts], np.array(owners), np.array(reach))


def _outposts(distances: Distances, is_medoid: npt.NDArray[np.bool_]) -> tuple[list[int], float]:
    """The medoid with the points farthest out, and the farthest member's distance from these."""
    medoid = int(is_medoid.argmax())
    others, nearest = vectors.farthest_first(
        distances[medoid], lambda member: distances[member], OUTPOSTS - 1, MARGIN
    )
    return [medoid, *others], float(nearest.max())


def _joined(sample: _Sample, chosen: Rows, strangers: int) -> _Sample:
    """The sample, followed by the chosen rows, which stand for all strangers."""
    weights = np.full(len(chosen), max(strangers // len(chosen), 1), dtype=np.int64)
    return _Sample(np.concatenate([sample.rows, chosen]), np.concatenate([sample.weights, weights]))


def _differing(rows: sparse.csr_matrix, most: int) -> Rows:
    """At most `most` rows, those that differ most from one another."""

    def distances_to(row: int) -> Distances:
        return vectors.distances_to(rows, row)

    others, _ = vectors.farthest_first(distances_to(0), distances_to, most - 1)
    return np.array([0, *others], dtype=np.int64)
