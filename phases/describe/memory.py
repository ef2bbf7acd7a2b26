# SPDX-License-Identifier: GPL-2.0-or-later
"""Page faults in a run's memory: by phase, by allocation site, and over time.

The profile says which pages an interval touched for the first time. On a kernel that makes one
page present at a time, each is a fault. Pages of files are counted separately, because kernels
map several of them at once.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from kadence.phases.describe import memory_calls
from kadence.phases.describe.memory_sites import Site, sites_of
from kadence.phases.find.segmentation import Segmentation
from kadence.profiler.format.profile import Mapping, Memory, Profile, Touches

PAGE_BYTES = 4096
FILES = frozenset(["private-file", "shared-file"])

UPWARD, DOWNWARD, IN_RUNS, SCATTERED = "upward", "downward", "in runs", "scattered"
# Runs of this many adjacent pages, on average, are as good as an order: the pages share the cost
# of a fault.
LONG_RUN = 16
ORDERED_SHARE = 0.9  # of the pages must follow an order for it to be named

BLOCK = "block"
# Kinds of memory that grow and that several places of a program share.
RANGES = frozenset(["heap", "stack", "thread-stack", "data"])
OF_MALLOC = frozenset(["anonymous", "heap"])
# A mapping for one block is at most twice the request; header and alignment take the rest.
MOST_ROOM = 2
# A growth of the heap for a block of at least this size counts as that block, even if the growth
# is smaller. The rest of the block lies in room that an earlier block left at the heap's end.
LARGE_BLOCK = 131_072

MOST_POINTS = 1000  # of the growth; a page or a figure cannot show more

Body = dict[str, Any]
Labels = npt.NDArray[np.int64]


@dataclass
class Count:
    """How many pages were touched, and in which order."""

    pages: int = 0
    runs: int = 0
    upward: int = 0
    downward: int = 0

    def add(self, touch: Touches) -> None:
        self.pages += touch.pages
        self.runs += touch.runs
        self.upward += touch.upward
        self.downward += touch.downward

    @property
    def order(self) -> str | None:
        """The order in which the program touches them; None if it touched none."""
        if self.pages == 0:
            return None
        if self.upward >= ORDERED_SHARE * self.pages:
            return UPWARD
        if self.downward >= ORDERED_SHARE * self.pages:
            return DOWNWARD
        return IN_RUNS if self.pages >= LONG_RUN * self.runs else SCATTERED

    def described(self) -> Body:
        return {"pages": self.pages, "runs": self.runs, "order": self.order}


@dataclass
class _Group:
    """Mappings that are judged together."""

    kind: str
    mappings: list[Mapping] = field(default_factory=list)
    count: Count = field(default_factory=Count)
    touched: int = 0  # pages; for each mapping, at most its size
    by_phase: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))

    def described(self) -> Body:
        """The keys that sites and ranges have in common."""
        total = sum(mapping.bytes for mapping in self.mappings)
        return {
            "kind": self.kind,
            "mappings": len(self.mappings),
            "bytes": total,
            "largest": max(mapping.bytes for mapping in self.mappings),
            **self.count.described(),
            "touched": round(self.touched * PAGE_BYTES / max(total, 1), 6),
            "again": sum(mapping.again for mapping in self.mappings),
            "forked": any(mapping.forked for mapping in self.mappings),
        }


def describe(profile: Profile, segmentation: Segmentation) -> Body:
    """The memory entry of the phases artefact."""
    memory, assignment = profile.memory, segmentation.assignment
    groups = _grouped(memory, assignment)
    anonymous = [touch for touch in memory.touches if not _of_file(memory, touch)]
    resident = _resident(profile, anonymous)
    return {
        "page_bytes": PAGE_BYTES,
        "faults": sum(touch.pages for touch in anonymous),
        "file_pages": sum(touch.pages for touch in memory.touches if _of_file(memory, touch)),
        "peak_resident_bytes": max((bytes_ for _, bytes_ in resident), default=0),
        "limit_bytes": profile.facts.memory_limit_bytes or 0,
        "rows_unseen": profile.facts.memory_rows_unseen or 0,
        "sites": [
            _site(site, groups[site.number, kind])
            for site in sites_of(profile)
            for number, kind in sorted(key for key in groups if key[0] == site.number)
        ],
        "ranges": [
            groups[number, kind].described() for number, kind in sorted(groups) if number < 0
        ],
        "growth": [{"row": row, "bytes": bytes_} for row, bytes_ in _thinned(resident)],
    }


def of_phases(profile: Profile, segmentation: Segmentation) -> list[Body]:
    """Return every phase's faults, how many of them are scattered, and its pages of files."""
    counts = [Count() for _ in segmentation.representatives]
    scattered, of_files = [0] * len(counts), [0] * len(counts)
    for touch in profile.memory.touches:
        phase = int(segmentation.assignment[touch.interval])
        if _of_file(profile.memory, touch):
            of_files[phase] += touch.pages
            continue
        counts[phase].add(touch)
        # Pages alone or in pairs: populating a chunk around them would gain nothing.
        if touch.pages <= 2 * touch.runs:
            scattered[phase] += touch.pages
    return [
        {
            "faults": count.pages,
            "bytes": count.pages * PAGE_BYTES,
            "order": count.order,
            "scattered": lonely,
            "file_pages": pages,
        }
        for count, lonely, pages in zip(counts, scattered, of_files, strict=True)
    ]


def _of_file(memory: Memory, touch: Touches) -> bool:
    return memory.mappings[touch.mapping].kind in FILES


def _grouped(memory: Memory, assignment: Labels) -> dict[tuple[int, str], _Group]:
    """Group the mappings by site (-1: none) and kind."""
    keys = [_key(mapping, memory) for mapping in memory.mappings]
    groups = {key: _Group(key[1]) for key in keys}
    pages = [0] * len(keys)
    for key, mapping in zip(keys, memory.mappings, strict=True):
        groups[key].mappings.append(mapping)
    for touch in memory.touches:
        group = groups[keys[touch.mapping]]
        group.count.add(touch)
        group.by_phase[int(assignment[touch.interval])] += touch.pages
        pages[touch.mapping] += touch.pages
    for key, mapping, touched in zip(keys, memory.mappings, pages, strict=True):
        groups[key].touched += min(touched, mapping.bytes // PAGE_BYTES)
    return groups


def _key(mapping: Mapping, memory: Memory) -> tuple[int, str]:
    kind = kind_of(mapping, memory)
    return (-1 if mapping.site is None or kind in RANGES else mapping.site, kind)


def kind_of(mapping: Mapping, memory: Memory) -> str:
    """The mapping's kind, by use.

    Memory that malloc takes from the kernel for one block is a block. Memory that it takes for many
    small blocks at once is a heap, whichever call it used. A program may free its large block last
    in every step, so that malloc trims the heap's end. In each step the heap then grows by a part
    of the next large block; such a growth counts as a block, too.
    """
    site = None if mapping.site is None else memory.sites[mapping.site]
    if site is None or mapping.kind not in OF_MALLOC or not memory_calls.allocates(site.call):
        return mapping.kind
    least = 0 if mapping.request >= LARGE_BLOCK else mapping.request
    return BLOCK if least <= mapping.bytes <= MOST_ROOM * mapping.request else "heap"


def _site(site: Site, group: _Group) -> Body:
    phases = sorted(group.by_phase.items(), key=lambda item: (-item[1], item[0]))
    return {
        "function": site.function,
        "file": site.file,
        "line": site.line,
        "call": site.call,
        "places": [place.described() for place in site.places],
        "own": site.own,
        "phase": phases[0][0] if phases else None,
        **group.described(),
        "request": max(mapping.request for mapping in group.mappings),
        "held": max(mapping.beside + mapping.bytes for mapping in group.mappings),
        "unreserved": any(mapping.unreserved for mapping in group.mappings),
    }


def _resident(profile: Profile, touches: Iterable[Touches]) -> list[tuple[int, int]]:
    """Return (row, bytes present at the row's end) in the order of time."""
    changes: defaultdict[int, int] = defaultdict(int)
    for touch in touches:
        changes[touch.interval] += (touch.pages - touch.released) * PAGE_BYTES
    rows = sorted(changes, key=lambda row: (int(profile.start[row]), row))
    levels = np.cumsum([changes[row] for row in rows], dtype=np.int64).tolist()
    return list(zip(rows, levels, strict=True))


def _thinned(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Reduce the points to MOST_POINTS: each stands for its neighbours and is their highest."""
    width = -(-len(points) // MOST_POINTS) or 1
    return [
        max(points[first : first + width], key=lambda point: point[1])
        for first in range(0, len(points), width)
    ]
