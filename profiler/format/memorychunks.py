# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes and reads the chunks of a profile that describe memory; the format is in kprof.py."""

from collections.abc import Sequence
from typing import BinaryIO

from kadence.profiler.format import sitechunks
from kadence.profiler.format.chunks import (
    Array,
    Chunk,
    Texts,
    differences_of,
    packed,
    sums_of,
    whole_columns,
)
from kadence.profiler.format.profile import MEMORY_KINDS, Mapping, Memory, Touches
from kadence.profiler.format.sitechunks import from_one, or_none

SITES, MAPPINGS, TOUCHES = CHUNKS = ("SITE", "MAPS", "TOUC")


def bodies(memory: Memory, texts: Texts) -> dict[str, bytes]:
    """Return the bytes of each chunk."""
    return {
        SITES: sitechunks.body(memory.sites, texts),
        MAPPINGS: _mappings(memory.mappings),
        TOUCHES: _touches(memory.touches),
    }


def _mappings(mappings: Sequence[Mapping]) -> bytes:
    return b"".join(
        (
            packed(MEMORY_KINDS.index(mapping.kind) for mapping in mappings),
            packed(int(mapping.unreserved) for mapping in mappings),
            packed(from_one(mapping.site) for mapping in mappings),
            packed(mapping.bytes for mapping in mappings),
            packed(mapping.request for mapping in mappings),
            packed(mapping.born for mapping in mappings),
            packed(from_one(mapping.gone) for mapping in mappings),
            packed(int(mapping.forked) for mapping in mappings),
            packed(int(mapping.again) for mapping in mappings),
            packed(mapping.beside for mapping in mappings),
        )
    )


def _touches(touches: Sequence[Touches]) -> bytes:
    return b"".join(
        (
            packed(differences_of(touch.interval for touch in touches)),
            packed(touch.mapping for touch in touches),
            packed(touch.pages for touch in touches),
            packed(touch.runs for touch in touches),
            packed(touch.upward for touch in touches),
            packed(touch.downward for touch in touches),
            packed(touch.released for touch in touches),
        )
    )


def read(file: BinaryIO, texts: Sequence[str], rows: int) -> Memory:
    """Read the chunks; raise ValueError if they contradict one another or `rows`."""
    sites = sitechunks.read(whole_columns(Chunk(file, SITES)), texts)
    mappings = _read_mappings(whole_columns(Chunk(file, MAPPINGS)))
    touches = _read_touches(whole_columns(Chunk(file, TOUCHES)))
    _check_mappings(mappings, len(sites), rows)
    _check_touches(touches, len(mappings), rows)
    return Memory(sites, mappings, touches)


def _read_mappings(columns: Sequence[Array]) -> tuple[Mapping, ...]:
    kinds, unreserved, sites, sizes, requests, born, gone, forked, again, beside = (
        column.tolist() for column in columns
    )
    return tuple(
        Mapping(
            MEMORY_KINDS[kind],
            bool(overcommitted),
            or_none(site),
            size,
            request,
            first,
            or_none(last),
            bool(copied),
            bool(repeated),
            others,
        )
        for kind, overcommitted, site, size, request, first, last, copied, repeated, others in zip(
            *(kinds, unreserved, sites, sizes, requests),
            *(born, gone, forked, again, beside),
            strict=True,
        )
    )


def _read_touches(columns: Sequence[Array]) -> tuple[Touches, ...]:
    intervals, *others = columns
    lists = [sums_of(intervals).tolist(), *(column.tolist() for column in others)]
    return tuple(Touches(*values) for values in zip(*lists, strict=True))


def _check_mappings(mappings: Sequence[Mapping], sites: int, rows: int) -> None:
    for mapping in mappings:
        if mapping.site is not None and mapping.site >= sites:
            raise ValueError("a mapping names an unknown allocation site")
        if mapping.born >= rows or (mapping.gone is not None and mapping.gone >= rows):
            raise ValueError("a mapping comes or goes in an unknown row")


def _check_touches(touches: Sequence[Touches], mappings: int, rows: int) -> None:
    for touch in touches:
        if touch.mapping >= mappings or not 0 <= touch.interval < rows:
            raise ValueError("pages of an unknown mapping or row were touched")
        if touch.runs > touch.pages or touch.upward + touch.downward > touch.pages:
            raise ValueError("more runs than pages were touched")
