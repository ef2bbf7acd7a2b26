# SPDX-License-Identifier: GPL-2.0-or-later
"""Partners are an optimal assignment (the test tries all), and families follow from them."""

from itertools import permutations

import numpy as np
import pytest
from scipy import sparse

from kadence.phases.compare import alignment, stability
from kadence.phases.compare.stability import Comparison, Input


def cheapest(distances: np.ndarray) -> float:
    """The least sum of distances over all one-to-one pairings; a phase alone costs 1."""
    rows, columns = distances.shape
    capped = np.minimum(distances, alignment.PARTNER_DISTANCE)
    padded = np.full((max(rows, columns),) * 2, alignment.PARTNER_DISTANCE)
    padded[:rows, :columns] = capped
    return min(
        sum(padded[row, column] for row, column in enumerate(order))
        for order in permutations(range(len(padded)))
    )


@pytest.mark.parametrize("seed", range(20))
def test_partners_are_an_optimal_assignment(seed):
    generator = np.random.default_rng(seed)
    distances = generator.random((generator.integers(1, 7), generator.integers(1, 7))) * 2
    found = alignment.partners(distances)
    assert len(set(found.values())) == len(found)
    cost = sum(distances[pair] for pair in found.items())
    alone = max(distances.shape) - len(found)
    assert cost + alone * alignment.PARTNER_DISTANCE == pytest.approx(cheapest(distances))


def vectors_of(*rows: list[float]) -> sparse.csr_matrix:
    return sparse.csr_matrix(np.array(rows))


def test_families_hold_one_phase_of_each_run_and_are_numbered_by_first_appearance():
    a, b, c, d = np.eye(4).tolist()
    runs = [vectors_of(a, b), vectors_of(c, b), vectors_of(d, c, a)]
    assert [own.tolist() for own in alignment.families(runs)] == [[0, 1], [2, 1], [3, 2, 0]]


def test_two_phases_cannot_both_be_the_partner_of_one():
    near, nearer = [0.8, 0.2, 0.0], [0.9, 0.1, 0.0]
    runs = [vectors_of([1.0, 0.0, 0.0]), vectors_of(near, nearer)]
    assert [own.tolist() for own in alignment.families(runs)] == [[0], [1, 0]]


def compared(
    weights: list[list[float]],
    kinds: list[list[str]],
    rows: list[sparse.csr_matrix],
    held: dict[tuple[int, int], np.ndarray] | None = None,
) -> list[Comparison]:
    inputs = [
        Input(np.array(own), tuple(kind), families)
        for own, kind, families in zip(weights, kinds, alignment.families(rows), strict=True)
    ]
    distances = {
        (of, against): np.abs(
            rows[of].toarray()[:, None, :] - rows[against].toarray()[None, :, :]
        ).sum(axis=2)
        for of, against in permutations(range(len(rows)), 2)
    }
    nothing = {
        (of, against): np.zeros(rows[of].shape[0], dtype=np.bool_) for of, against in distances
    }
    return stability.compare(inputs, distances, held or nothing)


A, B, C = vectors_of([1.0, 0, 0]), vectors_of([0, 1.0, 0]), vectors_of([0, 0, 1.0])


def test_what_the_other_input_does_not_know_is_unknown():
    rows = [sparse.vstack([A, B]).tocsr(), sparse.vstack([A, C]).tocsr()]
    found = compared([[0.7, 0.3], [0.9, 0.1]], [["compute"] * 2] * 2, rows)
    assert [one.unknown for one in found] == [0.3, 0.1]
    assert [one.shift for one in found] == [0.3, 0.3]
    assert stability.verdict(found) == "input-dependent"


def test_a_phase_that_does_io_on_one_input_only_is_unknown():
    rows = [sparse.vstack([A, B]).tocsr()] * 2
    found = compared([[0.8, 0.2]] * 2, [["compute"] * 2, ["compute", "file-io"]], rows)
    assert [one.unknown for one in found] == [0.2, 0.2]


def test_what_was_not_seen_to_do_io_differs_only_from_what_was():
    rows = [sparse.vstack([A, B]).tocsr()] * 2
    weights, unseen = [[0.8, 0.2]] * 2, ["unseen"] * 2
    found = compared(weights, [unseen, ["compute"] * 2], rows)
    assert [one.unknown for one in found] == [0.0, 0.0]
    found = compared(weights, [unseen, ["compute", "file-io"]], rows)
    assert [one.unknown for one in found] == [0.2, 0.2]


def test_weights_alone_do_not_make_a_program_input_dependent():
    rows = [sparse.vstack([A, B]).tocsr()] * 2
    found = compared([[0.9, 0.1], [0.2, 0.8]], [["compute", "file-io"]] * 2, rows)
    assert [one.unknown for one in found] == [0.0, 0.0]
    assert [one.shift for one in found] == [0.7, 0.7]
    assert stability.verdict(found) == "input-stable"


@pytest.mark.parametrize(("unknown", "word"), [(0.05, "input-stable"), (0.06, "input-dependent")])
def test_a_twentieth_may_be_unknown(unknown, word):
    rows = [sparse.vstack([A, B]).tocsr(), A]
    found = compared([[1 - unknown, unknown], [1.0]], [["compute"] * 2, ["compute"]], rows)
    assert stability.verdict(found) == word


def test_a_phase_split_in_two_is_known_all_the_same():
    near = vectors_of([0.7, 0.3, 0.0])
    rows = [sparse.vstack([A, near]).tocsr(), A]
    found = compared([[0.5, 0.5], [1.0]], [["compute"] * 2, ["compute"]], rows)
    assert [one.unknown for one in found] == [0.0, 0.0]


def test_what_the_other_holds_within_its_phases_is_known_and_told():
    rows = [sparse.vstack([A, B]).tocsr(), C]
    held = {(0, 1): np.array([True, False]), (1, 0): np.array([True])}
    found = compared([[0.7, 0.3], [1.0]], [["compute"] * 2, ["compute"]], rows, held)
    assert [one.unknown for one in found] == [0.3, 0.0]
    assert [one.scaled for one in found] == [0.7, 1.0]
