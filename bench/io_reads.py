# SPDX-License-Identifier: GPL-2.0-or-later
"""Records read from files: a window beside what else a program can do."""

from collections.abc import Sequence
from dataclasses import dataclass

from io_places import PLAIN, RING, STRICT, Found, Place
from rows import spread

NAMES = {"file": "file (tmpfs)", "ext4": "file (ext4)"}
METHODS = ("read", "readv", "fread", "bufferread", "mapping")
HEADINGS = ("read", "readv x64", "fread", "user buffer", "mapping")

Chosen = Sequence[tuple[str, int]]  # place and size


@dataclass(frozen=True)
class Reads:
    """All figures of one place, by the make of the program."""

    unit: str
    plain: Found
    window: Found
    strict: Found


def measure(place: Place, chosen: Chosen) -> Reads:
    """The plain program, and what its adaptation changes."""
    if not chosen:
        return Reads(place.unit, {}, {}, {})
    plain = [f"{where}.{method}.{size}" for where, size in chosen for method in METHODS]
    adapted = [f"{where}.read.{size}" for where, size in chosen]
    return Reads(
        place.unit,
        place.measure(PLAIN, plain),
        place.measure(RING, adapted),
        place.measure(STRICT, adapted),
    )


def table(reads: Reads, chosen: Chosen) -> list[list[str]]:
    """A line for each place and size."""
    lines = [[f"a record read, {reads.unit}", *HEADINGS, "window", "window, strict"]]
    for where, size in chosen:
        others = [reads.plain[f"{where}.{method}.{size}"] for method in METHODS]
        name = f"{where}.read.{size}"
        lines.append(
            [
                f"{NAMES[where]} {size:,} B",
                *map(str, others),
                spread(reads.window[name]),
                str(reads.strict[name]),
            ]
        )
    return lines
