# SPDX-License-Identifier: GPL-2.0-or-later
"""What a phase writes or reads in records, and whether they are small and many enough.

A ring saves the crossing, some 1,400 instructions a write and 4,500 a send, and costs a copy. A
window saves a read's crossing, some 830 instructions, less one for each eight bytes (bench-io, 16
and 1,024 bytes on tmpfs): at 2,048 bytes, by extrapolation, half of what the read costs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kadence.phases.document import Document, Phase, Transfers
from kadence.phases.marking import firings_per_second

CALLS_PER_SECOND = 1000.0  # fewer are a thousandth of the time
BURST = 64  # as many in one stay are worth a binding


@dataclass(frozen=True)
class Way:
    """How records go: from the program, or to it."""

    verb: str
    preposition: str
    means: str  # what they go through without a call each
    system_calls: frozenset[str]  # that a redirected call of the C library makes
    ends: Mapping[str, str]  # kinds of descriptors that it is for, and what they are called
    small_bytes: int
    too_large: str  # why no larger ones


WRITES = Way(
    verb="writes",
    preposition="to",
    means="ring",
    system_calls=frozenset(["write", "pwrite64", "writev", "sendto"]),
    ends={"file": "files", "pipe": "pipes", "socket": "sockets"},
    small_bytes=4096,
    too_large="a copy costs as much as a call",
)
READS = Way(
    verb="reads",
    preposition="from",
    means="window",
    system_calls=frozenset(["read"]),
    ends={"file": "files"},
    small_bytes=2048,
    too_large=(
        "a window saves less than half of the call (the C library's streams read 4096 bytes or "
        "more at once)"
    ),
)


@dataclass(frozen=True)
class Records:
    """What a phase writes to one kind of descriptor, or reads from it."""

    way: Way
    end: str
    count: int
    bytes: int
    per_second: float
    per_stay: float

    @property
    def size(self) -> float:
        return self.bytes / self.count

    def __str__(self) -> str:
        return (
            f"{self.count} {self.way.verb} of {self.size:.3g} bytes on average "
            f"{self.way.preposition} {self.end}, {self.per_second:.3g} a second and "
            f"{self.per_stay:.3g} in each stay in the phase"
        )

    def objection(self) -> str | None:
        """Why nothing is gained by a ring or a window for them."""
        if self.size > self.way.small_bytes:
            return f"{self}: above {self.way.small_bytes} bytes {self.way.too_large}"
        if self.per_second < CALLS_PER_SECOND and self.per_stay < BURST:
            return (
                f"{self}: too few for a {self.way.means}, which takes {CALLS_PER_SECOND:.0f} a "
                f"second or {BURST} in a stay"
            )
        return None


def of_phase(document: Document, phase: Phase, way: Way) -> Iterable[Records]:
    """Those of each kind of descriptor."""
    instructions = max(round(phase.weight * document.total_instructions), 1)
    stays = max(sum(boundary.after == phase.number for boundary in document.boundaries), 1)
    for descriptor, end in way.ends.items():
        calls = [
            call
            for call in phase.transfers
            if call.name in way.system_calls and call.descriptor == descriptor
        ]
        left_out = _transfers_without_ring(phase, descriptor) if way is WRITES else []
        count = sum(call.count for call in calls) - sum(call.count for call in left_out)
        if count > 0:
            moved = sum(call.bytes for call in calls) - sum(call.bytes for call in left_out)
            rate = firings_per_second(count, instructions)
            yield Records(way, end, count, moved, rate, count / stays)


def _transfers_without_ring(phase: Phase, descriptor: str) -> list[Transfers]:
    """Those of streams that are flushed too often."""
    return [
        flushed.transfers for flushed in phase.flushed if flushed.transfers.descriptor == descriptor
    ]
