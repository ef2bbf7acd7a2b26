# SPDX-License-Identifier: GPL-2.0-or-later
"""Places in the program, as a chunk of a profile, and references to what is in such a chunk."""

from collections.abc import Sequence

from kadence.profiler.chunks import Array, Texts, packed
from kadence.profiler.profile import CallSite


def body(sites: Sequence[CallSite], texts: Texts) -> bytes:
    """What is stored."""
    return b"".join(
        (
            packed(texts.number(site.call) for site in sites),
            packed(texts.number(site.function) for site in sites),
            packed(texts.number(site.file) for site in sites),
            packed(site.line for site in sites),
            packed(texts.number(site.object) for site in sites),
        )
    )


def read(columns: Sequence[Array], texts: Sequence[str]) -> tuple[CallSite, ...]:
    """What was stored."""
    calls, functions, files, lines, objects = (column.tolist() for column in columns)
    return tuple(
        CallSite(texts[call], texts[function], texts[file], line, texts[elf])
        for call, function, file, line, elf in zip(
            calls, functions, files, lines, objects, strict=True
        )
    )


def from_one(number: int | None) -> int:
    """How an index is stored that may be none."""
    return 0 if number is None else number + 1


def or_none(number: int) -> int | None:
    """What `from_one` stored."""
    return None if number == 0 else number - 1
