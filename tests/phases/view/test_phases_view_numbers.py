# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what `kadence view` computes with numpy and scipy on dense vectors."""

import base64
import gzip

import numpy as np
import pytest
from long_run import LongRun, long_run
from scipy import sparse
from scipy.spatial.distance import cdist

from kadence.phases.find.vectors import Normalised
from kadence.phases.view import content, hottest, landmarks, tiles

ROWS = 4100  # too many to compare all pairs
TYPES = {"uint8": 1, "uint16": 2, "uint32": 4, "float64": 8}


@pytest.fixture(scope="module")
def run() -> LongRun:
    return long_run(rows=ROWS, per_row=12, blocks=300)


@pytest.fixture(scope="module")
def distances(run) -> np.ndarray:
    dense = run.shares.toarray()
    return cdist(dense, dense, "cityblock")


def test_a_short_run_is_stored_pair_by_pair(run, distances):
    made = tiles.build(run.shares[:200])
    assert made.exact
    for found in (made.least, made.mean, made.greatest):
        assert found == pytest.approx(distances[:200, :200], abs=1e-9)


def test_a_longer_run_is_stored_in_tiles_that_bound_it(run, distances):
    made = tiles.build(run.shares)
    groups = np.arange(ROWS) // made.group
    assert not made.exact
    assert len(made.reach) == groups[-1] + 1 <= tiles.LARGEST_SIDE
    slack = made.reach[groups][:, np.newaxis] + made.reach[groups]
    least, greatest = (found[np.ix_(groups, groups)] for found in (made.least, made.greatest))
    assert (distances >= least - slack - 1e-9).all()
    assert (distances <= greatest + slack + 1e-9).all()
    assert (made.least <= made.mean + 1e-9).all() and (made.mean <= made.greatest + 1e-9).all()


def test_landmarks_are_the_representatives_and_then_what_is_far(run, distances):
    made = landmarks.choose(Normalised(run.shares), tiles.build(run.shares), [5, 3000])
    assert made.rows[:2] == (5, 3000)
    assert len(set(made.rows)) == len(made.rows) <= landmarks.MOST
    assert made.distances == pytest.approx(distances[:, made.rows], abs=1e-9)


def test_landmarks_bound_every_pair(run, distances):
    made = landmarks.choose(Normalised(run.shares), tiles.build(run.shares), [5]).distances
    for row in range(0, ROWS, 97):
        assert (np.abs(made - made[row]).max(axis=1) <= distances[row] + 1e-9).all()
        assert ((made + made[row]).min(axis=1) >= distances[row] - 1e-9).all()


def test_the_hottest_blocks_are_those_of_a_stable_sort(run):
    vectors = run.shares[:500]
    found = hottest.hottest(vectors)
    dense = vectors.toarray()
    order = np.argsort(-np.round(dense, 10), axis=1, kind="stable")[:, : hottest.MOST]
    assert (found.blocks == order).all()
    assert found.shares == pytest.approx(np.take_along_axis(dense, order, axis=1), abs=1e-9)


def test_a_run_too_long_for_ten_blocks_each_keeps_the_hottest(run, monkeypatch):
    vectors = run.shares[:500]
    monkeypatch.setattr(hottest, "LARGEST_TABLE", 1600)
    found = hottest.hottest(vectors)
    assert (found.blocks == np.argsort(-vectors.toarray(), axis=1, kind="stable")[:, :3]).all()


def test_equal_shares_are_in_order_of_their_blocks_and_short_rows_are_filled():
    vectors = sparse.csr_matrix(np.array([[0.25, 0.0, 0.25, 0.5], [0.0, 0.0, 0.0, 0.0]]))
    found = hottest.hottest(vectors)
    assert found.blocks.tolist() == [[3, 0, 2] + [-1] * 7, [-1] * 10]
    assert found.shares.tolist() == [[0.5, 0.25, 0.25] + [0.0] * 7, [0.0] * 10]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 255], "uint8"),
        ([1, 256], "uint16"),
        ([70_000], "uint32"),
        ([2**40, 3], "float64"),
        ([], "uint8"),
    ],
)
def test_packed_arrays_come_out_as_they_went_in(values, kind):
    packed = content.Packed()
    packed.add("before", np.array([7], dtype=np.int64))
    packed.add("it", np.array(values, dtype=np.int64))
    entry = packed.entries[1]
    assert (entry["type"], entry["length"]) == (kind, len(values))
    assert entry["offset"] % TYPES[kind] == 0
    data = gzip.decompress(base64.b64decode(packed.encoded()))
    found = np.frombuffer(data, f"<{np.dtype(kind).str[1:]}", len(values), entry["offset"])
    assert found.tolist() == values


def test_text_of_the_run_cannot_end_its_script():
    made = content.Content({"name": "</script><script>alert(1)"}, "")
    assert "<" not in made.header_text
