# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a run holds a phase of another run, if not as a phase of its own.

On a smaller input a loop may be shorter than an interval, and what was a phase is then a part of
each interval of another. But the code ran: of the instructions of that run some can be taken that
look like the phase. How much of a phase x can be made so, of a slice that is the share s of a run
with the block shares y, is the sum of min(x, y / s); and it looks like the phase under the
condition under which an interval does.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.phases import kinds, vectors
from kadence.phases.alignment import PARTNER_DISTANCE
from kadence.phases.segmentation import SMALLEST_WEIGHT
from kadence.phases.vectors import Distances


def distances_to_slice(representatives: sparse.csr_matrix, run: Distances) -> Distances:
    """Of each phase to what looks most like it among as much of a run as a phase must have.

    `run` is the share of the run's instructions in each block.
    """
    most = run / SMALLEST_WEIGHT
    shared = sparse.csr_matrix(representatives).copy()
    shared.data = np.minimum(shared.data, most[shared.indices])
    made = np.asarray(shared.sum(axis=1)).ravel()
    return np.asarray(np.round(vectors.LARGEST_DISTANCE * (1 - made), vectors.DECIMALS))


def held(
    representatives: sparse.csr_matrix,
    own_kinds: Sequence[str],
    shares: sparse.csr_matrix,
    other_kinds: Sequence[str],
) -> npt.NDArray[np.bool_]:
    """Which of one run's phases the other holds, in phases that are adapted alike.

    `shares` are those of the other run's instructions: a row for each of its phases.
    """
    found = np.zeros(len(own_kinds), dtype=np.bool_)
    for kind in set(own_kinds):
        own = np.array([one == kind for one in own_kinds])
        alike = [kinds.adapted_alike(kind, seen) for seen in other_kinds]
        run = np.asarray(shares[np.flatnonzero(alike)].sum(axis=0)).ravel()
        distances = distances_to_slice(representatives[np.flatnonzero(own)], run)
        found[own] = distances < PARTNER_DISTANCE
    return found
