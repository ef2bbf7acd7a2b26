# SPDX-License-Identifier: GPL-2.0-or-later
"""Filters: which lines of a program's outputs are not compared, and whether their order counts.

Outputs are compared by a checksum of the lines that the filters leave. A file without filters is
compared byte for byte.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path

from kadence.base import stages

STANDARD_OUTPUT = "standard output"


@dataclass(frozen=True)
class Filter:
    """One `[[filter]]` of kadence.toml."""

    pattern: str = ""  # regular expression; matching lines are removed; empty: none
    file: str = ""  # the output that it applies to; empty: all outputs
    sort: bool = False  # lines are compared in sorted order

    def complaint(self) -> str | None:
        """The error in the pattern; None if the pattern is valid."""
        try:
            _compiled(self.pattern)
        except (re.error, OverflowError, RecursionError) as error:
            return str(error)
        return None

    def removes(self, text: str) -> bool:
        """Whether this line is left out of the comparison."""
        return bool(self.pattern) and _compiled(self.pattern).search(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@dataclass(frozen=True)
class Line:
    """A line of an output, with the number that an editor shows."""

    number: int
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "surrogateescape").rstrip("\r\n")


@dataclass(frozen=True)
class Counted:
    """What a filter did to one output."""

    pattern: str
    sort: bool
    file: str
    removed: int  # lines
    lines: int  # in the output


@dataclass(frozen=True)
class Difference:
    """The first lines in which two outputs differ; None for an output that has ended there."""

    file: str
    first: Line | None
    second: Line | None


def of_file(filters: Iterable[Filter], name: str) -> list[Filter]:
    """The filters that apply to this output."""
    return [each for each in filters if each.file in ("", name)]


def checksum(filters: Sequence[Filter], name: str, path: Path) -> str:
    """SHA-256 of the compared lines of an output."""
    if not of_file(filters, name):
        return stages.file_hash(path).decode()
    digest = hashlib.sha256()
    for line in compared(filters, name, path):
        digest.update(line.content)
    return digest.hexdigest()


def compared(filters: Sequence[Filter], name: str, path: Path) -> Iterable[Line]:
    """The compared lines of an output, in the order of comparison."""
    own = of_file(filters, name)
    left = (line for line in _lines(path) if not any(each.removes(line.text) for each in own))
    if any(each.sort for each in own):
        return sorted(left, key=lambda line: line.content)
    return left


def _lines(path: Path) -> Iterator[Line]:
    with path.open("rb") as file:
        for number, content in enumerate(file, 1):
            yield Line(number, content)


def first_difference(
    filters: Sequence[Filter], name: str, first: Path, second: Path
) -> Difference | None:
    """The place where two outputs begin to differ, after the filters."""
    both = zip_longest(compared(filters, name, first), compared(filters, name, second))
    for one, other in both:
        if one is None or other is None or one.content != other.content:
            return Difference(name, one, other)
    return None


def counted(filters: Sequence[Filter], name: str, path: Path) -> list[Counted]:
    """The effect of each filter on this output; a line that two filters match counts twice."""
    own = of_file(filters, name)
    removed = [0] * len(own)
    lines = 0
    for line in _lines(path) if own else ():
        lines += 1
        for number, each in enumerate(own):
            removed[number] += each.removes(line.text)
    return [
        Counted(each.pattern, each.sort, name, count, lines)
        for each, count in zip(own, removed, strict=True)
    ]


def warnings(filters: Sequence[Filter], files: dict[str, Path]) -> list[str]:
    """Warnings about filters that remove nothing, or everything."""
    told = []
    matched: dict[str, int] = {each.pattern: 0 for each in filters if each.pattern}
    for name, path in files.items():
        found = counted(filters, name, path)
        for one in found:
            matched[one.pattern] = matched.get(one.pattern, 0) + one.removed
        if found and found[0].lines and not any(True for _ in compared(filters, name, path)):
            told.append(
                f"The filters remove all {found[0].lines} lines of {name}, which proves nothing."
            )
    told += [
        f"The filter {pattern!r} matches no line and removes nothing."
        for pattern, count in matched.items()
        if pattern and not count
    ]
    return told
