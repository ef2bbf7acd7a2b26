# SPDX-License-Identifier: GPL-2.0-or-later
"""Planted clusters are found, and the silhouette equals scikit-learn's."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import silhouette_score

from kadence.phases.find import clustering, sampling, tree, vectors
from kadence.phases.find.vectors import Normalised

BLOCKS = 60


def grouped(rows: sparse.csr_matrix) -> clustering.Groups:
    return clustering.groups_of(Normalised(rows), np.arange(rows.shape[0]))


def clouds(sizes: list[int], noise: float = 0.1, seed: int = 3) -> sparse.csr_matrix:
    """Vectors around centres that have half of their blocks in common."""
    generator = np.random.default_rng(seed)
    rows = []
    for number, size in enumerate(sizes):
        centre = np.zeros(BLOCKS)
        centre[:5] = 0.1
        centre[5 + 5 * number : 10 + 5 * number] = 0.1
        rows.append(centre * np.exp(noise * generator.standard_normal((size, BLOCKS))))
    dense = np.concatenate(rows)
    return sparse.csr_matrix(dense / dense.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("count", range(1, 9))
def test_as_many_groups_are_found_as_there_are(count):
    groups = grouped(clouds([20] * count))
    assert groups.labels.tolist() == np.repeat(np.arange(count), 20).tolist()


def test_two_near_groups_are_told_apart_although_a_third_is_far():
    near = np.zeros((40, BLOCKS))
    near[:, 0] = 0.8
    near[:20, 1] = near[20:, 2] = 0.2
    far = np.zeros((20, BLOCKS))
    far[:, 9] = 1.0
    groups = grouped(sparse.csr_matrix(np.concatenate([near, far])))
    assert groups.labels.tolist() == [0] * 20 + [1] * 20 + [2] * 20


def test_what_differs_in_less_than_a_tenth_is_one_group():
    dense = np.zeros((40, 3))
    dense[:, 0] = 0.91
    dense[:20, 1] = dense[20:, 2] = 0.09
    assert grouped(sparse.csr_matrix(dense)).labels.max() == 0


def test_a_steady_drift_is_one_group():
    share = np.linspace(0, 1, 200)
    dense = np.stack([share, 1 - share], axis=1)
    assert grouped(sparse.csr_matrix(dense)).labels.max() == 0


def test_the_medoid_is_the_row_with_the_smallest_summed_distance():
    rows = clouds([30, 50])
    groups = grouped(rows)
    distances = vectors.among(rows)
    for number, (first, end) in enumerate([(0, 30), (30, 80)]):
        sums = distances[first:end, first:end].sum(axis=1)
        assert groups.medoids[number] == first + sums.argmin()


def test_one_row_is_one_group():
    groups = grouped(clouds([1]))
    assert (groups.labels.tolist(), groups.medoids.tolist()) == ([0], [0])


def test_only_core_rows_are_grouped():
    rows = clouds([20, 20, 20])
    core = np.r_[0:20, 40:60]
    groups = clustering.groups_of(Normalised(rows), core)
    assert groups.labels.tolist() == np.repeat([0, 1], 20).tolist()


def sampled(monkeypatch, rows: sparse.csr_matrix) -> clustering.Groups:
    monkeypatch.setattr(clustering, "ALL_PAIRS", 100)
    monkeypatch.setattr(sampling, "SAMPLE", 60)
    return grouped(rows)


def test_a_long_profile_loses_no_rare_group(monkeypatch):
    sizes = [900, 700, 3, 400]
    groups = sampled(monkeypatch, clouds(sizes))
    assert groups.labels.tolist() == np.repeat(np.arange(4), sizes).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_a_sample_finds_the_groups_that_all_pairs_give(monkeypatch, seed):
    rows = clouds([500, 60, 300, 5], noise=0.3, seed=seed)
    assert sampled(monkeypatch, rows).labels.tolist() == grouped_by_pairs(rows)


def grouped_by_pairs(rows: sparse.csr_matrix) -> list[int]:
    distances = vectors.among(rows)
    labels = tree.grouped(distances, np.ones(rows.shape[0], dtype=np.int64))
    number = {label: order for order, label in enumerate(dict.fromkeys(labels.tolist()))}
    return [number[label] for label in labels.tolist()]


def test_the_silhouette_is_scikit_learns_with_every_point_repeated():
    rows = clouds([6, 9, 1], noise=0.6)
    weights = np.arange(1, 17) % 3 + 1
    weights[-1] = 1
    labels = np.repeat([0, 1, 2], [6, 9, 1])
    distances = vectors.among(rows)
    repeated = np.repeat(np.arange(16), weights)
    expected = silhouette_score(
        distances[np.ix_(repeated, repeated)], labels[repeated], metric="precomputed"
    )
    assert tree.silhouette(distances, weights, labels) == pytest.approx(expected, abs=1e-9)
