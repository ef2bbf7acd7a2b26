# SPDX-License-Identifier: GPL-2.0-or-later
"""The records that a phase writes, and whether they are small and many enough to be adapted.

A ring saves the crossing into the kernel, some 1,400 instructions a write, and costs a copy.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kadence.phases.artefact.document import Document, Phase, Writes
from kadence.phases.describe import io_calls
from kadence.phases.describe.marking import firings_per_second
from kadence.phases.describe.writes import ENDS

CALLS_PER_SECOND = 1000.0  # fewer take a thousandth of the time
BURST = 64  # this many in one stay are worth a binding
LEAST_SHARE = 0.05  # of the writes; a call with less is not named


@dataclass(frozen=True)
class Way:
    """A way of writing records that can be adapted."""

    means: str
    ends: tuple[str, ...]  # kinds of descriptors
    too_large_bytes: int
    too_large: str  # why records of this size are refused


CALLS = Way("ring", ("file",), 4096, "a copy costs as much as a call")
FLUSHES = Way("ring", ("file",), 16384, "a ring takes no record")  # KADAPT_RECORD_MAX
BATCHES = Way("batch", ("pipe", "socket"), 4096, "a copy costs as much as a call")
WAYS = (CALLS, FLUSHES, BATCHES)


@dataclass(frozen=True)
class Records:
    """A phase's records of one way to one kind of descriptor: the small or the large ones."""

    way: Way | None  # None: they cannot be adapted
    end: str
    writes: tuple[Writes, ...]
    per_second: float
    per_stay: float

    @property
    def count(self) -> int:
        return sum(made.transfers.count for made in self.writes)

    @property
    def size(self) -> float:
        return sum(made.transfers.bytes for made in self.writes) / self.count

    def __str__(self) -> str:
        return (
            f"{self.count} writes of {self.size:.3g} bytes on average to {ENDS[self.end]}, "
            f"{self.per_second:.3g} a second and {self.per_stay:.3g} in each stay in the phase"
        )

    def objection(self) -> str | None:
        """Why adapting them gains nothing, or None."""
        if self.way is None:
            return f"{self}: {_why_nothing(self)}"
        if self.size >= self.way.too_large_bytes:
            return f"{self}: from {self.way.too_large_bytes} bytes on {self.way.too_large}"
        if self.per_second < CALLS_PER_SECOND and self.per_stay < BURST:
            return (
                f"{self}: too few for a {self.way.means}, which takes {CALLS_PER_SECOND:.0f} a "
                f"second or {BURST} in a stay"
            )
        return None


def of_phase(document: Document, phase: Phase) -> Iterator[Records]:
    """Yield the records of each way to each kind of descriptor, small and large apart."""
    for end in ENDS:
        made = [
            writes
            for writes in phase.writes
            if writes.transfers.descriptor == end and writes.transfers.count
        ]
        for way in (*WAYS, None):
            alike = [writes for writes in made if way_of(writes, phase) is way]
            small = [writes for writes in alike if way is None or _is_small(writes, way)]
            large = [writes for writes in alike if writes not in small]
            for sort in (small, large):
                if sort:
                    yield _records(document, phase, way, end, sort)


def way_of(made: Writes, phase: Phase) -> Way | None:
    """The way of these writes of the phase, which adapts them if they are small and many."""
    if made.transfers.descriptor != "file":
        return BATCHES if made.call in io_calls.BATCHED else None
    if made.call in io_calls.FLUSHING:
        return None if _fills_buffers(made, phase) else FLUSHES
    is_call = made.call in io_calls.DIRECT or io_calls.is_of_stream(made.call)
    return CALLS if is_call and made.transfers.name in io_calls.DIRECT else None


def _fills_buffers(flushed: Writes, phase: Phase) -> bool:
    """Whether the function's streams write full buffers at least as often as they are flushed.

    Each write of a full buffer would unbind the file's ring.
    """
    full = sum(
        made.transfers.count
        for made in phase.writes
        if made.transfers.descriptor == "file"
        and set(made.places) & set(flushed.places)
        and made.call not in io_calls.FLUSHING
        and made.transfers.bytes >= io_calls.SMALLEST_BUFFER * made.transfers.count
    )
    return full >= flushed.transfers.count


def _is_small(made: Writes, way: Way) -> bool:
    return made.transfers.bytes < way.too_large_bytes * made.transfers.count


def _records(
    document: Document, phase: Phase, way: Way | None, end: str, made: Sequence[Writes]
) -> Records:
    instructions = max(round(phase.weight * document.total_instructions), 1)
    stays = max(sum(boundary.after == phase.number for boundary in document.boundaries), 1)
    count = sum(writes.transfers.count for writes in made)
    return Records(way, end, tuple(made), firings_per_second(count, instructions), count / stays)


def _why_nothing(records: Records) -> str:
    calls = _mostly_by(records)
    if calls == [""]:
        return "by no known function of the C library"
    by = ", ".join(call or "an unknown function" for call in calls)
    if records.end != "file":
        return f"by {by}, and only loops of write or send become batches"
    if io_calls.FLUSHING.intersection(calls):
        return f"by {by}, whose streams fill their buffers before they are flushed"
    return f"by {by}, and rings take what write, writev and fflush write"


def _mostly_by(records: Records) -> list[str]:
    """The calls, without those that made very few of the writes, such as a stream's fclose."""
    counts: Counter[str] = Counter()
    for made in records.writes:
        counts[made.call] += made.transfers.count
    return sorted(call for call, count in counts.items() if count >= LEAST_SHARE * records.count)
