# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes and reads a chunk of sites, and encodes references to the sites of such a chunk."""

from collections.abc import Sequence

from kadence.profiler.format.chunks import Array, Texts, packed
from kadence.profiler.format.profile import CallSite


def body(sites: Sequence[CallSite], texts: Texts) -> bytes:
    """Return the chunk's bytes."""
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
    """Return the sites that body() stored."""
    calls, functions, files, lines, objects = (column.tolist() for column in columns)
    return tuple(
        CallSite(texts[call], texts[function], texts[file], line, texts[elf])
        for call, function, file, line, elf in zip(
            calls, functions, files, lines, objects, strict=True
        )
    )


def from_one(number: int | None) -> int:
    """Encode an index that may be None."""
    return 0 if number is None else number + 1


def or_none(number: int) -> int | None:
    """Decode what from_one() encoded."""
    return None if number == 0 else number - 1
