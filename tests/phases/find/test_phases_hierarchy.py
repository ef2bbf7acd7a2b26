# SPDX-License-Identifier: GPL-2.0-or-later
"""Which phases are joined, in which order, and how much that loses."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from kadence.phases.find import hierarchy


def test_a_joined_phase_is_as_far_away_as_its_intervals_are_on_average():
    distances = np.array([[0.0, 0.2, 1.0], [0.2, 0.0, 1.6], [1.0, 1.6, 0.0]])
    first, last = hierarchy.join(distances, np.array([30, 10, 5]), ["compute"] * 3)
    assert (first.number, first.of, first.members) == (3, (0, 1), (0, 1))
    assert first.distance == pytest.approx(0.2)
    assert (last.number, last.of, last.members) == (4, (2, 3), (0, 1, 2))
    assert last.distance == pytest.approx((30 * 1.0 + 10 * 1.6) / 40)
    # Joining all, with medoid phase 0, loses 10 x 0.2 + 5 x 1; the first joining loses 10 x 0.2.
    assert (first.kept, last.kept) == (pytest.approx(1 - 2 / 7), 0)


def test_phases_of_as_many_intervals_are_joined_as_scipy_joins_them():
    points = np.random.default_rng(3).random((12, 4))
    distances = np.abs(points[:, np.newaxis] - points).sum(axis=2)
    found = hierarchy.join(distances, np.full(12, 7), ["compute"] * 12)
    expected = linkage(squareform(distances, checks=False), "average")
    assert [sorted(joining.of) for joining in found] == np.sort(expected[:, :2]).tolist()
    assert [joining.distance for joining in found] == pytest.approx(expected[:, 2].tolist())


def test_phases_that_the_kernel_treats_otherwise_are_not_joined():
    distances = np.full((4, 4), 0.1) - 0.1 * np.eye(4)
    kinds = ["compute", "file-io", "compute", "file-io"]
    found = hierarchy.join(distances, np.ones(4, dtype=np.int64), kinds)
    assert [joining.members for joining in found] == [(0, 2), (1, 3)]
