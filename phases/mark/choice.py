# SPDX-License-Identifier: GPL-2.0-or-later
"""Chooses the place that announces each phase.

One place can announce only one phase, and all firings together must stay within the budget. So
the phases choose together, by optimal assignment. The number of announced boundaries comes
first, then the heavier phases, then the better places. While the chosen places fire too often,
the place that fires most is removed, and the phases choose again.
"""

from collections.abc import Sequence

import numpy as np

from kadence.phases.artefact.document import Document, Marker
from kadence.phases.describe.marking import (
    FIRINGS_PER_SECOND,
    acceptable,
    affordable,
    firings_per_second,
)

# An announced boundary counts more than all ranks of places together.
LARGEST_RANK = 1000.0


def rate(document: Document, marker: Marker) -> float:
    """Expected firings per second."""
    return firings_per_second(marker.fires, document.total_instructions)


def choose(document: Document) -> dict[int, Marker]:
    """The marker of every phase that gets one."""
    offered = [
        marker
        for marker in document.markers
        if acceptable(marker.announced, marker.false, marker.intrudes)
        and affordable(marker.fires, document.total_instructions)
    ]
    while True:
        chosen = _assigned(document, offered)
        if sum(rate(document, marker) for marker in chosen.values()) <= FIRINGS_PER_SECOND:
            return chosen
        busiest = max(chosen.values(), key=lambda marker: (marker.fires, -marker.phase))
        offered.remove(busiest)


def _assigned(document: Document, offered: Sequence[Marker]) -> dict[int, Marker]:
    places = {place: column for column, place in enumerate({m.place: None for m in offered})}
    phases = {phase.number: row for row, phase in enumerate(document.phases)}
    # Each phase also has a column of its own with gain 0: the phase may go without a marker.
    gains = np.zeros((len(document.phases), len(places) + len(document.phases)))
    by_cell: dict[tuple[int, int], Marker] = {}
    rank = dict.fromkeys(phases, 0)
    for marker in offered:
        row = phases[marker.phase]
        cell = (row, places[marker.place])
        if cell not in by_cell:
            by_cell[cell] = marker
            gains[cell] = _gain(document.phases[row].weight, marker, rank[marker.phase])
            rank[marker.phase] += 1
    # Imported here because it takes a third of a second to load.
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(gains, maximize=True)
    cells = zip(rows.tolist(), columns.tolist(), strict=True)
    return {by_cell[cell].phase: by_cell[cell] for cell in cells if cell in by_cell}


def _gain(weight: float, marker: Marker, rank: int) -> float:
    announced = marker.announced * marker.boundaries
    return LARGEST_RANK * (announced + weight) - rank * (1 + weight)


def why_none(document: Document, phase: int, chosen: dict[int, Marker]) -> str:
    """Why a phase got no marker."""
    offered = [marker for marker in document.markers if marker.phase == phase]
    if not offered:
        return "no function or loop of the program itself was seen to begin where this phase begins"
    best = offered[0]
    fires = rate(document, best)
    if not acceptable(best.announced, best.false, best.intrudes):
        many = "boundary" if best.boundaries == 1 else "boundaries"
        return (
            f"the best place, {best.where}, announces {best.announced:.0%} of "
            f"{best.boundaries} {many}, fires elsewhere in {best.false:.0%} of its firings and "
            f"disturbs {best.intrudes:.0%} of the stays in other phases"
        )
    if fires > FIRINGS_PER_SECOND:
        return (
            f"the best place, {best.where}, would fire {fires:.0f} times a second, "
            f"and the budget is {FIRINGS_PER_SECOND:.0f}"
        )
    if best.place in {marker.place for marker in chosen.values()}:
        return f"the best place, {best.where}, already announces another phase"
    return (
        f"with the best place, {best.where}, all markers together would fire more than "
        f"{FIRINGS_PER_SECOND:.0f} times a second"
    )
