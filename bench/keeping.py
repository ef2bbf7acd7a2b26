# SPDX-License-Identifier: GPL-2.0-or-later
"""What a benchmark ends with: its lines are printed as they come, and kept in build/bench/."""

from collections.abc import Iterable, Iterator

from kadence import neighbours, resources
from kadence.neighbours import Neighbours


def print_and_keep(lines: Iterable[str], name: str) -> None:
    """Print each line when it is there; the file has all of them once there are no more."""
    printed = []
    for line in lines:
        print(line, flush=True)
        printed.append(line)
    kept = resources.home() / "build" / "bench" / name
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text("\n".join(printed) + "\n", encoding="utf-8")


def with_disturbance(lines: Iterable[str]) -> Iterator[str]:
    """The lines of what is measured, and whether times are to be believed."""
    around = Neighbours()
    yield from lines
    said = neighbours.note(around.share())
    if said:
        yield said
