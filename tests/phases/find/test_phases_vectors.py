# SPDX-License-Identifier: GPL-2.0-or-later
"""Distances, and their picture, equal scipy's dense cityblock distances."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from planted import three_phases
from scipy import sparse
from scipy.spatial.distance import cdist

from kadence.phases.find import matrix, vectors
from kadence.phases.find.vectors import Normalised

ROWS, BLOCKS = 300, 40


@pytest.fixture(scope="module")
def sample() -> sparse.csr_matrix:
    """Random sparse vectors of sum 1, the last one without any instruction."""
    generator = np.random.default_rng(7)
    dense = generator.random((ROWS, BLOCKS)) * (generator.random((ROWS, BLOCKS)) < 0.3)
    dense[:, 0] += 0.1
    dense /= dense.sum(axis=1, keepdims=True)
    dense[-1] = 0
    return sparse.csr_matrix(dense)


@pytest.fixture(scope="module")
def cityblock(sample: sparse.csr_matrix) -> np.ndarray:
    return cdist(sample.toarray(), sample.toarray(), "cityblock")


def rows(dense: npt.ArrayLike) -> Normalised:
    return Normalised(sparse.csr_matrix(np.asarray(dense, dtype=np.float64)))


def test_rows_are_scaled_to_sum_one_and_the_profile_is_left_alone():
    profile = three_phases().profile()
    before = profile.vectors.copy()
    sums = vectors.Normalised(profile.vectors)[:].sum(axis=1)
    assert np.allclose(sums, 1.0)
    assert (profile.vectors != before).nnz == 0


def test_distances_equal_scipys(sample, cityblock):
    assert np.allclose(vectors.among(sample), cityblock, atol=1e-9)
    assert np.allclose(vectors.pairwise(sample[:7], sample), cityblock[:7], atol=1e-9)
    for row in (0, 17, ROWS - 1):
        assert np.allclose(vectors.distances_to(sample, row), cityblock[row], atol=1e-9)


@pytest.mark.parametrize("known", [0, 1, 30, 40])
def test_distances_that_are_known_need_not_be_found_again(known, monkeypatch):
    monkeypatch.setattr(vectors, "STRIP", 7)
    dense = np.random.default_rng(1).dirichlet(np.ones(20), size=40)
    rows = sparse.csr_matrix(np.where(dense < 0.03, 0.0, dense))
    first = vectors.among(rows[:known])
    assert np.array_equal(vectors.among(rows, first), vectors.among(rows))


def test_distances_of_neighbours_equal_scipys(sample, cityblock, monkeypatch):
    monkeypatch.setattr(vectors, "LONG_STRIP", 64)
    found = vectors.consecutive(Normalised(sample), (1, 2))
    for step, distances in zip((1, 2), found, strict=True):
        assert np.allclose(distances, np.diagonal(cityblock, step), atol=1e-9)
    assert [len(one) for one in vectors.consecutive(Normalised(sample[:1]), (1, 2))] == [0, 0]


def test_distances_to_the_own_representative_equal_scipys(sample, cityblock, monkeypatch):
    monkeypatch.setattr(vectors, "LONG_STRIP", 64)
    owner = np.arange(ROWS) % 3
    found = vectors.to_own(Normalised(sample), (4, 8, 99), owner)
    expected = cityblock[np.arange(ROWS), np.array([4, 8, 99])[owner]]
    assert np.allclose(found, expected, atol=1e-9)


def test_a_written_matrix_has_scipys_distances_above_the_diagonal(sample, cityblock, tmp_path):
    matrix.write(matrix.similarity_matrix(Normalised(sample)), tmp_path / "m.png")
    with Image.open(tmp_path / "m.png") as picture:
        assert picture.mode.startswith("I;16")
        pixels = np.asarray(picture)
    upper = np.triu_indices(ROWS)
    assert np.abs(pixels[upper] - cityblock[upper] / 2 * 65535).max() <= 0.5 + 1e-6
    assert (pixels[np.tril_indices(ROWS, -1)] == 65535).all()


def test_black_is_equal_and_white_has_nothing_in_common():
    picture = matrix.similarity_matrix(rows([[1, 0], [1, 0], [0, 1]]))
    assert picture.tolist() == [[0, 0, 65535], [65535, 0, 65535], [65535, 65535, 0]]


def test_a_pixel_of_a_long_run_is_the_exact_distance_of_a_pair_it_stands_for(
    sample, cityblock, monkeypatch
):
    monkeypatch.setattr(matrix, "LARGEST_SIDE", 70)
    rows = matrix.standing_for_pixels(ROWS)
    edges = np.arange(71) * ROWS // 70
    assert ((edges[:-1] <= rows) & (rows < edges[1:])).all()
    picture = matrix.similarity_matrix(Normalised(sample))
    upper = np.triu_indices(70)
    expected = cityblock[np.ix_(rows, rows)][upper] / 2 * 65535
    assert np.abs(picture[upper] - expected).max() <= 0.5 + 1e-6


def test_scaling_down_shows_a_loop_whose_period_is_a_pixel(monkeypatch):
    monkeypatch.setattr(matrix, "LARGEST_SIDE", 50)
    rows = matrix.standing_for_pixels(500)
    assert set((rows % 10).tolist()) == set(range(10))


def test_the_nearest_point_is_scipys(sample, cityblock, monkeypatch):
    monkeypatch.setattr(vectors, "LONG_STRIP", 64)
    rows = np.arange(3, ROWS)
    which, distance = vectors.nearest(Normalised(sample), rows, sample[[0, 5, 9]])
    expected = cityblock[3:, [0, 5, 9]]
    assert np.allclose(distance, expected.min(axis=1), atol=1e-9)
    assert np.allclose(expected[np.arange(len(rows)), which], distance, atol=1e-9)


def test_the_annotated_picture_shows_each_phase_in_its_colour(tmp_path: Path):
    picture = matrix.similarity_matrix(rows(np.eye(4)))
    assignment = np.array([0, 0, 1, 1])
    matrix.write_annotated(picture, assignment, ["phase 0", "phase 1"], tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as annotated:
        corner = matrix.MARGIN + matrix.BAR + matrix.GAP
        bar = [annotated.getpixel((corner + x, matrix.MARGIN + 1)) for x in (1, 399, 400, 798)]
    assert bar == [matrix.COLOURS[0]] * 2 + [matrix.COLOURS[1]] * 2
