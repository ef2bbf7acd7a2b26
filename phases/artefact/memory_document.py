# SPDX-License-Identifier: GPL-2.0-or-later
"""The memory entry of the phases artefact, as the planner sees it."""

from dataclasses import dataclass
from typing import Annotated

from kadence.base.codec import FLAT
from kadence.phases.describe.memory import DOWNWARD, IN_RUNS, SCATTERED, UPWARD
from kadence.phases.describe.places import Place

ORDERS = (UPWARD, DOWNWARD, IN_RUNS, SCATTERED, None)


@dataclass(frozen=True)
class Use:
    """The use of a site's memory, or of a range such as the heap."""

    kind: str
    mappings: int
    bytes: int
    largest: int
    pages: int
    order: str | None
    touched: float  # share of the pages
    again: int
    forked: bool

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise ValueError(f"the order {self.order!r} is unknown")


@dataclass(frozen=True)
class SiteUse:
    """The memory that one place of the program allocated."""

    function: str
    file: str
    line: int
    call: str
    places: tuple[Place, ...]
    own: bool
    phase: int | None
    use: Annotated[Use, FLAT]
    request: int
    held: int
    unreserved: bool


@dataclass(frozen=True)
class Growth:
    """The resident memory after an interval."""

    row: int
    bytes: int


@dataclass(frozen=True)
class MemoryUse:
    """The use of memory in the whole run."""

    faults: int  # on anonymous pages
    file_pages: int
    peak_resident_bytes: int
    limit_bytes: int  # 0: not known
    sites: tuple[SiteUse, ...]
    ranges: tuple[Use, ...]
    rows_unseen: int
    growth: tuple[Growth, ...]
