# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a run holds a phase of another run within its own phases.

On a smaller input a loop may be shorter than an interval. The loop's phase is then a part of
every interval of another phase. But its code ran: some slice of that run's instructions looks
like the phase. Let x be the phase, y the run's block shares, and s the slice's share of the run.
Then the slice can make up the sum of min(x, y / s) of the phase. It looks like the phase under the
same condition as an interval does.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.phases.compare.alignment import PARTNER_DISTANCE
from kadence.phases.describe import kinds
from kadence.phases.find import vectors
from kadence.phases.find.segmentation import SMALLEST_WEIGHT
from kadence.phases.find.vectors import Distances


def distances_to_slice(representatives: sparse.csr_matrix, run: Distances) -> Distances:
    """Return each phase's distance to the slice of a run that resembles it most.

    The slice is as large a share of the run as a phase must have.

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
    """Which of one run's phases the other run holds, in phases that are adapted alike.

    `shares` has a row for each phase of the other run: shares of that run's instructions by block.
    """
    found = np.zeros(len(own_kinds), dtype=np.bool_)
    for kind in set(own_kinds):
        own = np.array([one == kind for one in own_kinds])
        alike = [kinds.adapted_alike(kind, seen) for seen in other_kinds]
        run = np.asarray(shares[np.flatnonzero(alike)].sum(axis=0)).ravel()
        distances = distances_to_slice(representatives[np.flatnonzero(own)], run)
        found[own] = distances < PARTNER_DISTANCE
    return found
