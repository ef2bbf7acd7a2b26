# SPDX-License-Identifier: GPL-2.0-or-later
"""How well a plan's markers announce boundaries, on the input they were chosen on and on others.

The figures of an input count every chosen marker, even one that is withdrawn because of its
figures on that input. Without it, the markers would be picked with hindsight.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from kadence.phases.artefact.document import Document, Marker
from kadence.phases.describe.marking import ANNOUNCED_AT_LEAST, FALSE_AT_MOST, FIRINGS_PER_SECOND
from kadence.phases.mark.choice import rate
from kadence.phases.plan.inputs import Judged, OtherInput

DIGITS = 4
Body = dict[str, Any]


def of_plan(
    document: Document,
    chosen: Mapping[int, Marker],
    taken: Collection[int],
    others: Sequence[OtherInput],
) -> Body:
    """Return the figures on the input that the markers were chosen on, and on each other input.

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
    """Whether a marker misses a required figure on an input."""
    missed = judged.boundaries > 0 and judged.announced < ANNOUNCED_AT_LEAST
    return missed or judged.false > FALSE_AT_MOST or judged.firings_per_second > FIRINGS_PER_SECOND


def why_failed(marker: Marker, judged: Judged, other: OtherInput) -> str:
    """Say why such a marker is withdrawn."""
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
