# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of an observation, for a person and for other programs."""

from collections.abc import Iterator, Sequence

from kadence.lab.calls import Tally
from kadence.observe.observation import Observation

HEAD = ("function", "calls", "own", "with callees", "% of the kernel's", "a call", "longest call")
FIELDS = ("function", "calls", "own", "inclusive", "longest")


def lines(found: Observation, most: int) -> Iterator[str]:
    """The functions that took most, and how many others there are."""
    rows = [HEAD, *(_row(tally, found.instructions) for tally in found.tallies[:most])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    for first, *rest in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  ".join([f"{first:<{widths[0]}}", *cells])
    if len(found.tallies) > most:
        yield f"and {len(found.tallies) - most} more; --top 0 shows all"


def separated(found: Observation) -> Iterator[str]:
    """The same for other programs: lines of values between tabs, all of them."""
    yield "\t".join(FIELDS)
    for tally in found.tallies:
        yield "\t".join(str(getattr(tally, field)) for field in FIELDS)


def _row(tally: Tally, instructions: int) -> Sequence[str]:
    return (
        tally.function,
        f"{tally.calls:,}",
        f"{tally.own:,}",
        f"{tally.inclusive:,}",
        f"{100 * tally.inclusive / instructions:.1f}",
        f"{tally.inclusive / tally.calls:,.0f}",
        f"{tally.longest:,}" if tally.longest else "",
    )
