# SPDX-License-Identifier: GPL-2.0-or-later
"""The page's section on memory: its allocation sites, how it was touched, and how it grew."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from kadence.phases.artefact.memory_document import SiteUse, Use
from kadence.phases.describe.memory import PAGE_BYTES
from kadence.phases.view import palette
from kadence.phases.view.subject import Body, Subject

FEWEST_PAGES = 16  # a site or range with fewer pages is not worth a line
MOST_LINES = 30

WIDTH, HEIGHT, STRIP = 1000, 180, 14  # width and height of the drawing, height of the phases' strip
PIECES = 500  # the strip's resolution in time

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
NAMES = {
    "block": "block",
    "anonymous": "anonymous mapping",
    "heap": "heap",
    "stack": "stack",
    "thread-stack": "threads' stacks",
    "private-file": "file, private",
    "shared-file": "file, shared",
    "shared": "shared memory",
    "data": "the program's data",
}


@dataclass(frozen=True)
class Piece:
    """A part of the strip: a stay in one phase."""

    x: float
    width: float
    colour: str


def section(subject: Subject) -> dict[str, Any] | None:
    """Returns the values for the template, or None if the run touched no memory."""
    memory = subject.document.memory
    if not memory.faults:
        return None
    return {
        "faults": memory.faults,
        "peak": size(memory.peak_resident_bytes),
        "rows_unseen": memory.rows_unseen,
        "lines": _lines(subject),
        "width": WIDTH,
        "height": HEIGHT,
        "strip": STRIP,
        "growth": _growth(subject),
        "pieces": list(_pieces(subject)),
    }


def size(amount: float) -> str:
    """Returns an amount of bytes as text with a unit."""
    unit = 0
    while amount >= 1024 and unit < len(UNITS) - 1:
        amount /= 1024
        unit += 1
    return f"{amount:.0f} {UNITS[unit]}" if amount >= 100 else f"{amount:.3g} {UNITS[unit]}"


def faults_of(subject: Subject, pages: int) -> str:
    """Returns a phase's number of page faults and its share of the run's, as text."""
    if not subject.kernel_seen:
        return "not seen"
    total = subject.document.memory.faults
    return f"{pages:,} ({pages / total:.1%})" if pages else "0"


def _lines(subject: Subject) -> list[dict[str, Any]]:
    memory = subject.document.memory
    both = [(site, site.use) for site in memory.sites] + [(None, use) for use in memory.ranges]
    worth = [(site, use) for site, use in both if use.pages >= FEWEST_PAGES]
    worth.sort(key=lambda line: -line[1].pages)
    return [_line(subject, site, use) for site, use in worth[:MOST_LINES]]


def _line(subject: Subject, site: SiteUse | None, use: Use) -> dict[str, Any]:
    """Returns the values of a site's line, or of a range's."""
    return {
        "place": _place(site),
        "call": site.call if site else "",
        "kind": NAMES.get(use.kind, use.kind),
        "mappings": use.mappings,
        "again": use.again,
        "largest": size(use.largest),
        "pages": use.pages,
        "touched": f"{use.touched:.1%}",
        "order": use.order,
        "treatment": _treatment(subject.plan, site, use),
    }


def _place(site: SiteUse | None) -> tuple[str, str]:
    """Returns the function and the line of a site; two empty texts for a range.

    If several instances of a template share the line, the function is the template's.
    """
    if site is None:
        return "", ""
    name = site.places[0].function if len(site.places) == 1 else site.function
    line = f"{PurePosixPath(site.file).name}:{site.line}" if site.file else ""
    return name or "unknown code", line


def _treatment(plan: Body | None, site: SiteUse | None, use: Use) -> str:
    if plan is None:
        return "no plan given"
    places = {place.function for place in site.places} if site else set()
    for planned in plan["memory"]["sites"]:
        if site and planned["function"] in places and planned["line"] in (None, site.line):
            return ", ".join(planned["treatments"])
    ahead = plan["memory"]["ahead"]
    if use.kind in ahead or (use.kind in ("anonymous", "block") and "mappings" in ahead):
        return "made present ahead"
    return "as is"


def _growth(subject: Subject) -> str:
    """Returns the outline of the resident memory as an SVG path: steps from left to right."""
    memory = subject.document.memory
    peak = max(memory.peak_resident_bytes, PAGE_BYTES)
    total = int(subject.profile.instructions.sum())
    path = [f"M0 {HEIGHT}"]
    for point in memory.growth:
        x = WIDTH * int(subject.profile.start[point.row]) / total
        path.append(f"H{x:.1f}V{HEIGHT * (1 - point.bytes / peak):.1f}")
    return "".join([*path, f"H{WIDTH}V{HEIGHT}Z"])


def _pieces(subject: Subject) -> Iterator[Piece]:
    """Yields which phase ran when, in order of time. A stay in one phase is one piece."""
    order = np.argsort(subject.profile.start, kind="stable")
    rows = order[np.linspace(0, len(order) - 1, min(PIECES, len(order))).astype(np.int64)]
    shown = subject.shown[rows]
    edges = [0, *(np.flatnonzero(np.diff(shown)) + 1).tolist(), len(shown)]
    for first, end in zip(edges[:-1], edges[1:], strict=True):
        part = subject.parts[int(shown[first])]
        x = WIDTH * first / len(shown)
        yield Piece(x, WIDTH * (end - first) / len(shown), palette.css_colour(part.colour))
