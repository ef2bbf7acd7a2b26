# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints a benchmark's lines as soon as they are known, and keeps them in build/bench/."""

from collections.abc import Iterable, Iterator

from kadence.base import resources
from kadence.measurement import neighbours
from kadence.measurement.neighbours import Neighbours


def print_and_keep(lines: Iterable[str], name: str) -> None:
    """Print each line as soon as it is known. Write the file after the last line."""
    printed = []
    for line in lines:
        print(line, flush=True)
        printed.append(line)
    kept = resources.home() / "build" / "bench" / name
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text("\n".join(printed) + "\n", encoding="utf-8")


def with_disturbance(lines: Iterable[str]) -> Iterator[str]:
    """Yields the lines of a measurement, then a note if other work disturbed it."""
    around = Neighbours()
    yield from lines
    said = neighbours.note(around.share())
    if said:
        yield said
