# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the system calls of a stream; format/stream_format.h describes the frames."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kadence.profiler.format.profile import CallSite, SystemCalls

DESCRIPTORS = ("", "file", "socket", "pipe", "device", "other")
SIZES = 34
FIELDS = 12  # numbers in a tally, up to and including the number of sizes


@dataclass(frozen=True)
class Tally:
    """The calls of one number, site, peer and kind of descriptor in one row."""

    number: int
    descriptor: int
    site: int  # from 1; 0: unknown
    peer: int  # from 1; 0: none
    count: int
    bytes: int
    sequential: int
    random: int
    gaps: int
    instructions: int
    nanoseconds: int
    sizes: tuple[int, ...]


def parse(numbers: Sequence[int], sites: int, peers: int) -> tuple[Tally, ...]:
    """Parse the end of a row: the number of tallies, then the tallies."""
    count, offset = numbers[0], 1
    found = []
    for _ in range(count):
        number, descriptor, site, peer, *sums, used = numbers[offset : offset + FIELDS]
        offset += FIELDS
        pairs = numbers[offset : offset + 2 * used]
        offset += 2 * used
        calls, moved, sequential, random, gaps, instructions, nanoseconds = sums
        tally = Tally(
            *(number, descriptor, site, peer, calls, moved, sequential, random),
            *(gaps, instructions, nanoseconds, _sizes(pairs)),
        )
        if tally.descriptor >= len(DESCRIPTORS) or tally.site > sites or tally.peer > peers:
            raise ValueError("a system call names an unknown descriptor, site or peer")
        found.append(tally)
    if offset != len(numbers):
        raise ValueError("data follows the end of a row")
    return tuple(found)


def _sizes(pairs: Sequence[int]) -> tuple[int, ...]:
    """Make `SystemCalls.sizes` of pairs: bits of the number of bytes, number of transfers."""
    used = max(pairs[::2]) + 1 if pairs else 0
    if used > SIZES:
        raise ValueError("a transfer is too large")
    sizes = [0] * used
    for bits, transfers in zip(pairs[::2], pairs[1::2], strict=True):
        sizes[bits] = transfers
    return tuple(sizes)


@dataclass(frozen=True)
class Calls:
    """The calls of all rows, and the sites that they name."""

    calls: tuple[SystemCalls, ...]
    sites: tuple[CallSite, ...]


def of_rows(
    rows: Iterable[Sequence[Tally]], names: Mapping[int, str], sites: Sequence[CallSite]
) -> Calls:
    """Name the calls, in the order of the rows, and keep only the sites that made one."""
    numbers: dict[int, int] = {0: -1}
    calls = tuple(
        SystemCalls(
            interval=interval,
            name=names.get(tally.number, f"system_call_{tally.number}"),
            descriptor=DESCRIPTORS[tally.descriptor],
            count=tally.count,
            bytes=tally.bytes,
            site=numbers.setdefault(tally.site, len(numbers) - 1) if tally.site else None,
            peer=tally.peer - 1 if tally.peer else None,
            sequential=tally.sequential,
            random=tally.random,
            sizes=tally.sizes,
            gaps=tally.gaps,
            instructions_between=tally.instructions,
            nanoseconds_between=tally.nanoseconds,
        )
        for interval, tallies in enumerate(rows)
        for tally in sorted(tallies, key=_order)
    )
    return Calls(calls, tuple(sites[number - 1] for number in numbers if number))


def _order(tally: Tally) -> tuple[int, ...]:
    return tally.number, tally.descriptor, tally.site, tally.peer
