# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds groups of similar rows.

The rows of a short profile are compared pair by pair. In a long profile, a sample is compared
with all rows (sampling.py).
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from kadence.phases.find import sampling, tree, vectors
from kadence.phases.find.tree import Labels
from kadence.phases.find.vectors import Normalised, Rows

ALL_PAIRS = 2000  # up to this many rows are compared pair by pair


@dataclass(frozen=True)
class Groups:
    """The group of every row, and the medoid of every group (a row)."""

    labels: Labels
    medoids: Rows


def groups_of(rows: Normalised, core: Rows, count: int | None = None) -> Groups:
    """Cluster the rows of `core`; groups are numbered by first appearance.

    There are `count` groups, or as many as the data show.

    `labels` and `medoids` refer to positions in `core`, as if there were no other rows. The core
    rows of a long profile are never copied out together: they would be as large as the profile.
    """
    if len(core) > ALL_PAIRS:
        labels, medoids = sampling.grouped(rows, core, count)
    else:
        labels, medoids = _pair_by_pair(rows[core], count)
    return _numbered_by_appearance(labels, medoids)


def _pair_by_pair(rows: sparse.csr_matrix, count: int | None) -> tuple[Labels, Rows]:
    distances = vectors.among(rows)
    once = np.ones(rows.shape[0], dtype=np.int64)
    labels = tree.grouped(distances, once, count)
    medoids = [
        tree.medoid(distances, once, np.flatnonzero(labels == group))
        for group in range(labels.max() + 1)
    ]
    return labels, np.array(medoids, dtype=np.int64)


def _numbered_by_appearance(labels: Labels, medoids: Rows) -> Groups:
    present, first = np.unique(labels, return_index=True)
    order = present[np.argsort(first, kind="stable")]
    number = np.empty(len(medoids), dtype=np.int64)
    number[order] = np.arange(len(order))
    return Groups(number[labels], medoids[order])
