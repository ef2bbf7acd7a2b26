# SPDX-License-Identifier: GPL-2.0-or-later
"""The memory entry of the phases artefact as the planner sees it; parse() checks it."""

from dataclasses import dataclass
from typing import Any

from kadence.phases.describe import places
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
    use: Use
    request: int
    held: int
    unreserved: bool


@dataclass(frozen=True)
class MemoryUse:
    """The use of memory in the whole run."""

    peak_resident_bytes: int
    limit_bytes: int  # 0: not known
    sites: tuple[SiteUse, ...]
    ranges: tuple[Use, ...]


def parse(entry: dict[str, Any]) -> MemoryUse:
    """Parse the entry; wrong types and missing keys raise Python's errors."""
    return MemoryUse(
        peak_resident_bytes=int(entry["peak_resident_bytes"]),
        limit_bytes=int(entry["limit_bytes"]),
        sites=tuple(_site(site) for site in entry["sites"]),
        ranges=tuple(_use(used) for used in entry["ranges"]),
    )


def _use(entry: dict[str, Any]) -> Use:
    if entry["order"] not in ORDERS:
        raise ValueError(f"the order {entry['order']!r} is unknown")
    return Use(
        kind=str(entry["kind"]),
        mappings=int(entry["mappings"]),
        bytes=int(entry["bytes"]),
        largest=int(entry["largest"]),
        pages=int(entry["pages"]),
        order=entry["order"],
        touched=float(entry["touched"]),
        again=int(entry["again"]),
        forked=bool(entry["forked"]),
    )


def _site(entry: dict[str, Any]) -> SiteUse:
    return SiteUse(
        function=str(entry["function"]),
        file=str(entry["file"]),
        line=int(entry["line"]),
        call=str(entry["call"]),
        places=tuple(map(places.parse, entry["places"])),
        own=bool(entry["own"]),
        phase=None if entry["phase"] is None else int(entry["phase"]),
        use=_use(entry),
        request=int(entry["request"]),
        held=int(entry["held"]),
        unreserved=bool(entry["unreserved"]),
    )
