# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes of the C library's streams that are flushed so often that they get no ring.

libkadapt (kadapt/lib/stream.c) binds a stream to a ring after two buffers full, and a flush begins
the count anew. A stream without a buffer, or with one for a line, is never bound. Which stream a
write was of the profile does not tell, but the function of the program that it came from; streams
of one function are judged together.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kadence.phases import io_calls
from kadence.phases.io_records import WRITES
from kadence.phases.source import base_name
from kadence.profiler.profile import CallSite, SystemCalls

FLUSHING = frozenset({"fflush", "fflush_unlocked"})
BOUND_AFTER = 8192  # bytes of a stream; BUFSIZ / 2, which is its buffer, twice
# Bits of a size that no eligible buffer has (below 512 bytes, BUFFER_MIN): a write of so little
# emptied none that was full.
SMALL_BITS = 9


@dataclass
class _Stream:
    """What the streams of one function wrote to one kind of descriptor."""

    count: int = 0
    bytes: int = 0
    flushes: int = 0
    calls: frozenset[str] = frozenset()

    def add(self, call: SystemCalls, by: str) -> None:
        self.count += call.count
        self.bytes += call.bytes
        small = sum(call.sizes[: SMALL_BITS + 1])
        self.flushes += call.count if by in FLUSHING else small
        if by in FLUSHING or small:
            self.calls |= {by}

    @property
    def gets_no_ring(self) -> bool:
        return self.flushes > 0 and self.bytes < BOUND_AFTER * self.flushes


def of_phase(calls: Sequence[SystemCalls], sites: Sequence[CallSite]) -> dict[str, Any]:
    """As a phase of the artefact has them: writes that get no ring, and how many others streams
    made."""
    streams: defaultdict[tuple[str, str, str], _Stream] = defaultdict(_Stream)
    for call in calls:
        by = _stream_call(call, sites)
        if by is not None and call.site is not None:
            function = base_name(sites[call.site].function)
            streams[function, call.name, call.descriptor].add(call, by)
    flushed = [
        {
            "function": function,
            "name": name,
            "descriptor": descriptor,
            "calls": sorted(stream.calls),
            "count": int(stream.count),
            "bytes": int(stream.bytes),
        }
        for (function, name, descriptor), stream in sorted(streams.items())
        if stream.gets_no_ring
    ]
    buffered = sum(stream.count for stream in streams.values() if not stream.gets_no_ring)
    return {"flushed": flushed, "buffered": int(buffered)}


def _stream_call(call: SystemCalls, sites: Sequence[CallSite]) -> str | None:
    """The stream function by which the program wrote; None where it was none, or did not."""
    if call.site is None or call.name not in WRITES.system_calls:
        return None
    name = io_calls.library_name(sites[call.site].call)
    return name if name in io_calls.STREAM_CALLS else None
