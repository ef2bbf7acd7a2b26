# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides which phases of several runs are the same phase.

Two phases are compared by the Manhattan distance of their representatives. Optimal assignment
(Kuhn 1955; Crouse 2016, as implemented in scipy) finds partners one to one. A phase without a
partner costs as much as a partner at the greatest allowed distance. So the cheapest assignment
pairs the phases that are near enough and leaves the others alone.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.phases.find import refinement, vectors
from kadence.phases.find.vectors import Distances

# Within a run an interval joins a phase under the same condition.
PARTNER_DISTANCE = refinement.STRANGER

Families = npt.NDArray[np.int64]


def partners(distances: Distances) -> dict[int, int]:
    """Map each row of the distances to the column of its partner; rows without one are absent."""
    # Imported here because it takes a third of a second to load.
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(np.minimum(distances, PARTNER_DISTANCE))
    return {
        int(row): int(column)
        for row, column in zip(rows, columns, strict=True)
        if distances[row, column] < PARTNER_DISTANCE
    }


def families(representatives: Sequence[sparse.csr_matrix]) -> list[Families]:
    """Return, for every run, the family of each of its phases.

    A family holds at most one phase of each run. Families are numbered by first appearance. A
    run's phases are compared with the representatives that founded the families of earlier runs.
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
