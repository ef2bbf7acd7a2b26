# SPDX-License-Identifier: GPL-2.0-or-later
"""Suggests filters for outputs that differ from run to run, as text for kadence.toml."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from kadence.program import filters
from kadence.program.filters import STANDARD_OUTPUT, Filter

MOST = 8  # patterns; if an output needs more, filters are not the remedy
SHORTEST = 3  # characters that identify a line; fewer would match other lines, too
NUMBER = re.compile(r"\d+")


def suggest(own: Sequence[Filter], name: str, first: Path, second: Path) -> list[Filter] | None:
    """Filters that make both outputs equal and leave something to compare; None without any."""
    return _sorted(own, name, first, second) or _by_patterns(own, name, first, second)


def told(own: Sequence[Filter], name: str, first: Path, second: Path) -> Iterator[str]:
    """The sentence and the filters to suggest to the user for an output that differs."""
    if filters.first_difference(own, name, first, second) is None:
        return
    mended = suggest(own, name, first, second)
    if mended is None:
        yield f"no pattern was found that would leave something of {name} to compare"
        return
    yield f"if the difference in {name} is not a result, leave it out with this in kadence.toml:"
    for line in in_toml(mended):
        yield f"    {line}"


def in_toml(suggested: Sequence[Filter]) -> Iterator[str]:
    """Lines for kadence.toml."""
    for each in suggested:
        yield "[[filter]]"
        if each.pattern:
            quoted = f"'{each.pattern}'" if "'" not in each.pattern else json.dumps(each.pattern)
            yield f"pattern = {quoted}"
        yield f"file = {json.dumps('stdout' if each.file == STANDARD_OUTPUT else each.file)}"
        if each.sort:
            yield "sort = true"


def _sorted(own: Sequence[Filter], name: str, first: Path, second: Path) -> list[Filter] | None:
    """A filter that sorts, if both outputs have the same lines in another order."""
    suggested = Filter(file=name, sort=True)
    alike = filters.first_difference([*own, suggested], name, first, second) is None
    return [suggested] if alike else None


def _by_patterns(
    own: Sequence[Filter], name: str, first: Path, second: Path
) -> list[Filter] | None:
    suggested: list[Filter] = []
    for _ in range(MOST):
        found = filters.first_difference([*own, *suggested], name, first, second)
        if found is None:
            left = filters.compared([*own, *suggested], name, first)
            return suggested if any(True for _ in left) else None
        if found.first is None or found.second is None:
            return None
        pattern = pattern_of(found.first.text, found.second.text)
        if pattern is None:
            return None
        suggested.append(Filter(pattern, name))
    return None


def pattern_of(one: str, other: str) -> str | None:
    """A pattern that both lines match: their common beginning or end, or their form of numbers."""
    if not (one.isprintable() and other.isprintable()):
        return None
    beginning = _common(one, other)
    # Cut off a number or word of which only the end differs.
    beginning = re.sub(r"[\w.+-]+$", "", beginning)
    if len(beginning.strip()) >= SHORTEST:
        return f"^{escaped(beginning)}"
    ending = re.sub(r"^[\w.+-]+", "", _common(one[::-1], other[::-1])[::-1])
    if len(ending.strip()) >= SHORTEST:
        return f"{escaped(ending)}$"
    if NUMBER.sub("0", one) == NUMBER.sub("0", other):
        return f"^{NUMBER.sub(r'[0-9]+', escaped(one))}$"
    return None


def escaped(text: str) -> str:
    """Escape text for a pattern; unlike re.escape, keep spaces and # legible."""
    return re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", text)


def _common(one: str, other: str) -> str:
    count = next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    return one[:count]
