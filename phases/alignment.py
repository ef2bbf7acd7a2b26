# SPDX-License-Identifier: GPL-2.0-or-later
"""Which phases of several runs are the same phase.

Two phases are compared by the Manhattan distance of their representatives. Partners are found
by optimal assignment (Kuhn 1955; Crouse 2016 as scipy has it), one to one: a phase that is left
without one costs as much as a partner at the greatest distance that is still allowed, so that
the cheapest assignment pairs what can be paired and leaves alone what should be.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.phases import refinement, vectors
from kadence.phases.vectors import Distances

# Within a run an interval joins a phase under the same condition.
PARTNER_DISTANCE = refinement.STRANGER

Families = npt.NDArray[np.int64]


def partners(distances: Distances) -> dict[int, int]:
    """Of every row of the distances the column that is its partner, if it has one."""
    # Here, because it takes a third of a second to load.
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(np.minimum(distances, PARTNER_DISTANCE))
    return {
        int(row): int(column)
        for row, column in zip(rows, columns, strict=True)
        if distances[row, column] < PARTNER_DISTANCE
    }


def families(representatives: Sequence[sparse.csr_matrix]) -> list[Families]:
    """For every run the family of each of its phases.

    A family holds at most one phase of each run. Families are numbered by first appearance, and
    a run's phases are compared with the representatives that founded the families before it.
    """
    founders = representatives[0]
    found = [np.arange(founders.shape[0], dtype=np.int64)]
    for own in representatives[1:]:
        partner = partners(vectors.pairwise(own, founders))
        alone = [phase for phase in range(own.shape[0]) if phase not in partner]
        partner |= {phase: founders.shape[0] + place for place, phase in enumerate(alone)}
        founders = sparse.vstack([founders, own[alone]], format="csr")
        found.append(np.array([partner[phase] for phase in range(own.shape[0])], dtype=np.int64))
    return found
