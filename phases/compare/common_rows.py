# SPDX-License-Identifier: GPL-2.0-or-later
"""Normalised rows of several profiles over their common table of blocks."""

from collections.abc import Sequence
from typing import Any

from scipy import sparse

from kadence.phases.find.vectors import Normalised
from kadence.profiler.combine.correspondence import Columns, common_columns, relocated
from kadence.profiler.format.profile import Profile


class CommonRows:
    """The normalised rows of one profile over the common table of blocks of several profiles."""

    def __init__(self, profile: Profile, column: Columns, width: int) -> None:
        self._own, self._column = Normalised.of(profile), column
        self.shape = (self._own.shape[0], width)

    def __getitem__(self, rows: Any) -> sparse.csr_matrix:
        return self.placed(self._own[rows])

    def placed(self, rows: Any) -> sparse.csr_matrix:
        """Convert rows over the profile's own blocks to rows over the common table."""
        own = sparse.csr_matrix(rows)
        return sparse.csr_matrix(relocated(own, self._column, self.shape[1]))


def common_rows(profiles: Sequence[Profile]) -> list[CommonRows]:
    """The profiles' vectors over their common table."""
    columns = common_columns(profiles)
    width = max(int(column.max(initial=-1)) + 1 for column in columns)
    return [
        CommonRows(profile, column, width)
        for profile, column in zip(profiles, columns, strict=True)
    ]
