# SPDX-License-Identifier: GPL-2.0-or-later
"""How well a plan's markers announce the boundaries: where they were chosen, and elsewhere.

The figures of an input count every marker that was chosen, also one that is withdrawn because of
what it does on that input: picked with hindsight, they would say nothing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from kadence.phases.choice import rate
from kadence.phases.document import Document, Marker
from kadence.phases.inputs import Judged, OtherInput
from kadence.phases.marking import (
    ANNOUNCED_AT_LEAST,
    FALSE_AT_MOST,
    FIRINGS_PER_SECOND,
)

DIGITS = 4
Body = dict[str, Any]


def of_plan(
    document: Document,
    chosen: Mapping[int, Marker],
    taken: Collection[int],
    others: Sequence[OtherInput],
) -> Body:
    """The figures on the input the markers were chosen on, and on each other one.

    `taken` are the phases whose marker is not withdrawn.
    """
    markers = [chosen[phase] for phase in sorted(chosen)]
    own = [
        Judged(
            marker.fires,
            rate(document, marker),
            marker.boundaries,
            marker.announced,
            marker.false,
        )
        for marker in markers
    ]
    return {
        "announced_at_least": ANNOUNCED_AT_LEAST,
        "false_at_most": FALSE_AT_MOST,
        "firings_per_second_at_most": FIRINGS_PER_SECOND,
        "withdrawn": [marker.phase for marker in markers if marker.phase not in taken],
        "chosen_on": _figures(document.program, document.boundaries_to_announce, own),
        "validated_on": [
            _figures(other.program, other.boundaries, [other.of(marker) for marker in markers])
            for other in others
        ],
    }


def fails(judged: Judged) -> bool:
    """Whether a marker does on an input what it was chosen not to do."""
    missed = judged.boundaries > 0 and judged.announced < ANNOUNCED_AT_LEAST
    return missed or judged.false > FALSE_AT_MOST or judged.firings_per_second > FIRINGS_PER_SECOND


def why_failed(marker: Marker, judged: Judged, other: OtherInput) -> str:
    """The sentence that refuses such a marker."""
    return (
        f"{marker.where}, chosen on another input, announces {judged.announced:.0%} of "
        f"{judged.boundaries} boundaries in `{' '.join(other.program)}`, fires elsewhere in "
        f"{judged.false:.0%} of its firings, and {judged.firings_per_second:.3g} times a second"
    )


def _figures(program: Sequence[str], boundaries: int, judged: Iterable[Judged]) -> Body:
    markers = list(judged)
    marked = sum(marker.boundaries for marker in markers)
    announced = sum(marker.boundaries * marker.announced for marker in markers)
    fires = sum(marker.fires for marker in markers)
    false = sum(marker.fires * marker.false for marker in markers)
    return {
        "program": list(program),
        "boundaries": boundaries,
        "unmarked": boundaries - marked,
        "announced": round(announced / marked, DIGITS) if marked else None,
        "fires": fires,
        "false": round(false / fires, DIGITS) if fires else None,
        "firings_per_second": round(sum(marker.firings_per_second for marker in markers), 3),
    }
