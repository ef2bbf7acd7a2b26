# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the memory frames of kbbv's stream; format/stream_format.h describes them.

A frame belongs to the next row of its thread, or to the thread's last row if none follows.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from kadence.profiler.format import leb128
from kadence.profiler.format.profile import MEMORY_KINDS, CallSite, Mapping, Memory, Touches


@dataclass
class _Usage:
    """The memory of one site."""

    held: int = 0  # bytes
    given_back: int = 0  # unmapped mappings that no later mapping has replaced

    def take(self, size: int) -> None:
        self.held += size
        self.given_back = max(self.given_back - 1, 0)

    def give_back(self, size: int) -> None:
        self.held -= size
        self.given_back += 1


@dataclass
class MemoryStream:
    """The frames so far. Rows are numbered in the order in which they ended."""

    sites: list[CallSite] = field(default_factory=list)
    _mappings: list[Mapping] = field(default_factory=list)
    _alive: set[int] = field(default_factory=set)
    _usage: defaultdict[int, _Usage] = field(default_factory=lambda: defaultdict(_Usage))
    _touches: list[Touches] = field(default_factory=list)
    _waiting: defaultdict[int, list[Callable[[int], None]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    _last_row: dict[int, int] = field(default_factory=dict)

    def row_ends(self, thread: int, row: int) -> None:
        """Assign the frames of the thread since its last row to this row."""
        self._last_row[thread] = row
        for settle in self._waiting.pop(thread, []):
            settle(row)

    def add_site(self, body: bytes) -> None:
        """Frame S."""
        cursor = leb128.Cursor(body)
        number, line = cursor.number(), cursor.number()
        directory, file, call, function, elf = (cursor.text() for _ in range(5))
        if number != len(self.sites) + 1:
            raise ValueError("allocation sites are not in order")
        path = os.path.join(directory, file) if file else ""  # noqa: PTH118
        self.sites.append(CallSite(call, function, path, line, elf))

    def add_mapping(self, body: bytes) -> None:
        """Frame M."""
        thread, number, kind, unreserved, site, size, request = leb128.decode(body).tolist()
        if site > len(self.sites):
            raise ValueError("a mapping names an unknown allocation site")
        if number != len(self._mappings) or not 1 <= kind <= len(MEMORY_KINDS):
            raise ValueError("mappings are not in order")
        of = self._usage[site] if site else _Usage()
        mapping = Mapping(
            kind=MEMORY_KINDS[kind - 1],
            unreserved=bool(unreserved),
            site=site - 1 if site else None,
            bytes=size,
            request=request,
            born=0,
            gone=None,
            forked=False,
            again=of.given_back > 0,
            beside=of.held,
        )
        of.take(size)
        self._mappings.append(mapping)
        self._alive.add(number)
        self._waiting[thread].append(lambda row: self._change(number, born=row))

    def grow(self, body: bytes) -> None:
        """Frame G."""
        _thread, number, size, request = leb128.decode(body).tolist()
        before = self._mappings[number]
        if size > before.bytes:
            self._change(number, bytes=size, request=request)
            if before.site is not None:
                self._usage[before.site + 1].held += size - before.bytes

    def unmap(self, body: bytes) -> None:
        """Frame D."""
        thread, number = leb128.decode(body).tolist()
        self._alive.discard(number)
        mapping = self._mappings[number]
        if mapping.site is not None:
            self._usage[mapping.site + 1].give_back(mapping.bytes)
        self._waiting[thread].append(lambda row: self._change(number, gone=row))

    def fork(self, _body: bytes) -> None:
        """Frame C."""
        for number in self._alive:
            self._change(number, forked=True)

    def touch(self, body: bytes) -> None:
        """Frame T."""
        thread, count, *numbers = leb128.decode(body).tolist()
        for entry in np.array(numbers, dtype=np.int64).reshape(count, 6).tolist():
            if entry[0] >= len(self._mappings):
                raise ValueError("pages of an unknown mapping were touched")
            self._waiting[thread].append(partial(self._add_touches, entry))

    def in_order(self, order: Sequence[int]) -> Memory:
        """Return all memory; row number `order[i]` is interval i of the profile."""
        if not order:
            return Memory()  # The frames have no interval to belong to.
        for thread, waiting in self._waiting.items():
            for settle in waiting:
                settle(self._last_row.get(thread, 0))
        self._waiting.clear()
        place = {row: interval for interval, row in enumerate(order)}
        mappings = [
            replace(
                mapping,
                born=place[mapping.born],
                gone=None if mapping.gone is None else place[mapping.gone],
            )
            for mapping in self._mappings
        ]
        # Leave out the sites that only system calls name.
        own = sorted({mapping.site for mapping in mappings if mapping.site is not None})
        number = {site: position for position, site in enumerate(own)}
        mappings = [
            mapping if mapping.site is None else replace(mapping, site=number[mapping.site])
            for mapping in mappings
        ]
        sites = tuple(self.sites[site] for site in own)
        touches = [replace(touch, interval=place[touch.interval]) for touch in self._touches]
        touches.sort(key=lambda touch: touch.interval)
        return Memory(sites, tuple(mappings), tuple(touches))

    def _change(self, number: int, **changes: int | bool) -> None:
        changed: Any = changes
        self._mappings[number] = replace(self._mappings[number], **changed)

    def _add_touches(self, entry: Sequence[int], row: int) -> None:
        self._touches.append(Touches(row, *entry))


FRAMES: dict[int, Callable[[MemoryStream, bytes], None]] = {
    ord("S"): MemoryStream.add_site,
    ord("M"): MemoryStream.add_mapping,
    ord("G"): MemoryStream.grow,
    ord("T"): MemoryStream.touch,
    ord("D"): MemoryStream.unmap,
    ord("C"): MemoryStream.fork,
}
