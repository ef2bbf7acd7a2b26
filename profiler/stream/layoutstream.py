# SPDX-License-Identifier: GPL-2.0-or-later
"""The frames of a stream that tell how often blocks ran that are named for the layout."""

from collections import Counter

from kadence.profiler.format import leb128
from kadence.profiler.format.profile import LayoutCount

Name = tuple[str, str, str]  # function, file, checksum


class LayoutStream:
    """The last counts of each unit's functions."""

    def __init__(self) -> None:
        self._counts: dict[tuple[int, Name], dict[int, int]] = {}

    def add(self, body: bytes) -> None:
        """Take a frame, which replaces an earlier one of the same unit and function."""
        cursor = leb128.Cursor(body)
        unit = cursor.number()
        name = (cursor.text(), cursor.text(), cursor.text())
        numbers = [cursor.number() for _ in range(2 * cursor.number())]
        self._counts[unit, name] = dict(zip(numbers[::2], numbers[1::2], strict=True))

    def sums(self) -> tuple[LayoutCount, ...]:
        """Add up functions that several units have, as those of header files."""
        found: Counter[tuple[Name, int]] = Counter()
        for (_unit, name), counts in self._counts.items():
            for index, count in counts.items():
                found[name, index] += count
        return summed(found)


def summed(counts: Counter[tuple[Name, int]]) -> tuple[LayoutCount, ...]:
    """Return the counts in the order of names and blocks."""
    return tuple(LayoutCount(*name, index, counts[name, index]) for name, index in sorted(counts))
