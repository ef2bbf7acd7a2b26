# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of a profile that become one: those of a longer interval, or of all threads."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import zip_longest

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.profiler.profile import Memory, Profile, SystemCalls, Touches

ALL_THREADS = 1
LONGEST_BLOCK = 60  # instructions that Valgrind translates at once

Key = tuple[int, str, str, int | None, int | None]
Numbers = npt.NDArray[np.int64]


def merged(profile: Profile) -> Profile:
    """The profile with one row for each interval of the instructions that all threads ran.

    A thread's row belongs, whole, to the interval that its `start` is nearest to the beginning
    of; a row of the result is the sum of its rows, in the order of time, and starts with the first
    of them. With a single thread this is the profile itself.
    """
    number = (profile.start + profile.interval // 2) // profile.interval
    _, place = np.unique(number, return_inverse=True)
    one = _gathered(profile, place)
    return replace(one, thread=np.full_like(one.thread, ALL_THREADS))


def coarsened(profile: Profile, interval: int) -> Profile:
    """The profile with longer intervals, of a multiple of what they have.

    Where they are of instructions, rows begin within a block of the multiples of their interval, in
    instructions of their thread. The multiples of the longer interval are some of those of the
    shorter, so the rows between two of them, as one, are the row that would have been recorded with
    the longer. Only memory is told as it was looked at: of pages that were touched in neighbouring
    rows, runs don't join.

    Where they are of processor time, of which a profile has no record, what begins when the same
    number of instructions had been executed is taken for one interval's.
    """
    if profile.unit == "nanoseconds":
        _, number = np.unique(profile.start, return_inverse=True)
        return coarsened_in_time(profile, interval, number * profile.interval)
    first = np.flatnonzero(np.diff(profile.thread, prepend=-1))
    lengths = np.diff(np.append(first, len(profile.thread)))
    run = np.cumsum(profile.instructions)
    before = (run - profile.instructions)[first]
    begun = run - profile.instructions - np.repeat(before, lengths)
    number = (begun + min(LONGEST_BLOCK, profile.interval // 2)) // interval
    return _rejoined(profile, interval, number)


def coarsened_in_time(profile: Profile, interval: int, begun: Numbers) -> Profile:
    """Likewise, where it is known after how many nanoseconds each row began."""
    return _rejoined(profile, interval, begun // interval)


def _rejoined(profile: Profile, interval: int, number: Numbers) -> Profile:
    """Neighbouring rows of one thread that have the same number become one."""
    begins = np.diff(number, prepend=-1) != 0
    begins |= np.diff(profile.thread, prepend=-1) != 0
    return replace(_gathered(profile, np.cumsum(begins) - 1), interval=interval)


def _gathered(profile: Profile, place: Numbers) -> Profile:
    """Row number i of the profile is part of row `place[i]` of the result."""
    found, first = np.unique(place, return_index=True)
    rows = len(place)
    ones = np.ones(rows, dtype=np.int64)
    sums = sparse.csr_array((ones, (place, np.arange(rows))), (len(found), rows))
    start = np.full(len(found), np.iinfo(np.int64).max)
    np.minimum.at(start, place, profile.start)
    return replace(
        profile,
        vectors=_summed(sums, profile.vectors.tocsr()),
        counts=_summed(sums, profile.counts),
        instructions=sums @ profile.instructions,
        thread=profile.thread[first],
        start=start,
        system_calls=_calls(profile.system_calls, place),
        memory=_memory(profile.memory, place),
    )


def _summed(sums: sparse.csr_array, matrix: sparse.csr_array) -> sparse.csr_array:
    product = sparse.csr_array(sums @ matrix)
    product.sort_indices()
    return product


def _calls(calls: Sequence[SystemCalls], place: Numbers) -> tuple[SystemCalls, ...]:
    alike: defaultdict[Key, list[SystemCalls]] = defaultdict(list)
    for call in calls:
        interval = int(place[call.interval])
        key = (interval, call.name, call.descriptor, call.site, call.peer)
        alike[key].append(replace(call, interval=interval))
    return tuple(reduce(_together, alike[key]) for key in sorted(alike, key=lambda key: key[0]))


def _together(one: SystemCalls, other: SystemCalls) -> SystemCalls:
    return replace(
        one,
        count=one.count + other.count,
        bytes=one.bytes + other.bytes,
        sequential=one.sequential + other.sequential,
        random=one.random + other.random,
        sizes=tuple(map(sum, zip_longest(one.sizes, other.sizes, fillvalue=0))),
        gaps=one.gaps + other.gaps,
        instructions_between=one.instructions_between + other.instructions_between,
        nanoseconds_between=one.nanoseconds_between + other.nanoseconds_between,
    )


def _memory(memory: Memory, place: Numbers) -> Memory:
    mappings = tuple(
        replace(
            mapping,
            born=int(place[mapping.born]),
            gone=None if mapping.gone is None else int(place[mapping.gone]),
        )
        for mapping in memory.mappings
    )
    return replace(memory, mappings=mappings, touches=_touches(memory.touches, place))


def _touches(touches: Sequence[Touches], place: Numbers) -> tuple[Touches, ...]:
    """One for each mapping and row."""
    sums: dict[tuple[int, int], Touches] = {}
    for touch in touches:
        key = (int(place[touch.interval]), touch.mapping)
        before = sums.get(key, Touches(*key, 0, 0, 0, 0, 0))
        sums[key] = replace(
            before,
            pages=before.pages + touch.pages,
            runs=before.runs + touch.runs,
            upward=before.upward + touch.upward,
            downward=before.downward + touch.downward,
            released=before.released + touch.released,
        )
    return tuple(sorted(sums.values(), key=lambda touch: touch.interval))
