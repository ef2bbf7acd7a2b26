# SPDX-License-Identifier: GPL-2.0-or-later
"""One program with other weights, and programs that do other work, by construction."""

import numpy as np
import pytest
from scipy import sparse

from kadence.phases.compare import slices

# Four loops of ten blocks each, and ten blocks that all loops run, as they run libraries.
LOOPS, LENGTH = 4, 10
BLOCKS = (LOOPS + 1) * LENGTH


def loop(number: int, common: float = 0.0) -> np.ndarray:
    share = np.zeros(BLOCKS)
    share[number * LENGTH : (number + 1) * LENGTH] = (1 - common) / LENGTH
    share[LOOPS * LENGTH :] = common / LENGTH
    return share


def held(own: list[np.ndarray], run: list[np.ndarray], kinds: tuple[str, str] = ("compute",) * 2):
    """Call slices.held(); `own` and `run` are two runs' shares, one row for each phase."""
    return slices.held(
        sparse.csr_matrix(np.array(own)),
        [kinds[0]] * len(own),
        sparse.csr_matrix(np.array(run)),
        [kinds[1]] * len(run),
    ).tolist()


def test_loops_that_are_phases_on_a_large_input_are_held_where_an_interval_mixes_them():
    mixture = (loop(0) + loop(1) + loop(2)) / 3
    assert held([loop(0), loop(1), loop(2)], [mixture]) == [True] * 3
    assert held([mixture], [loop(0) / 3, loop(1) / 3, loop(2) / 3]) == [True]


def test_a_loop_that_the_other_input_never_runs_is_not_held():
    assert held([loop(0), loop(3)], [(loop(0) + loop(1)) / 2]) == [True, False]


@pytest.mark.parametrize(("share", "found"), [(0.004, False), (0.006, True), (0.3, True)])
def test_of_half_a_phase_there_must_be_as_much_as_makes_a_phase(share, found):
    assert held([loop(1)], [(1 - share) * loop(0) + share * loop(1)]) == [found]


def test_programs_that_share_their_libraries_alone_do_other_things():
    """They may have much code in common, as a compiler has on two sources, but more apart."""
    assert held([loop(0, 0.45)], [loop(1, 0.45)]) == [False]
    assert held([loop(0, 0.55)], [loop(1, 0.55)]) == [True]


def test_code_that_does_io_there_is_not_held_as_compute():
    assert held([loop(0)], [loop(0)], ("file-io", "compute")) == [False]
    assert held([loop(0)], [loop(0)], ("unseen", "compute")) == [True]
