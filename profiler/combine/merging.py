# SPDX-License-Identifier: GPL-2.0-or-later
"""Merges rows of a profile: those of a longer interval, or those of all threads."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import zip_longest

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.profiler.format.profile import Memory, Profile, SystemCalls, Touches

ALL_THREADS = 1
LONGEST_BLOCK = 60  # instructions; Valgrind translates no longer blocks

Key = tuple[int, str, str, int | None, int | None]
Numbers = npt.NDArray[np.int64]


def merged(profile: Profile) -> Profile:
    """Return the profile with one row for each interval of all threads' common instructions.

    Each thread's row belongs as a whole to the interval whose beginning is nearest to the row's
    `start`. A row of the result is the sum of the rows that belong to its interval, and has the
    least `start` of them. The result is in the order of time. A profile of a single thread stays
    the same.
    """
    number = (profile.start + profile.interval // 2) // profile.interval
    _, place = np.unique(number, return_inverse=True)
    one = _gathered(profile, place)
    return replace(one, thread=np.full_like(one.thread, ALL_THREADS))


def coarsened(profile: Profile, interval: int) -> Profile:
    """Return the profile with a longer interval, which must be a multiple of the present one.

    Intervals of instructions: a row begins within a block's length of a multiple of the interval,
    counted in its thread's instructions. Every multiple of the longer interval is one of the
    shorter, too. So the sum of the rows between two such multiples is the row that the longer
    interval would have recorded. Only memory differs: runs of pages that were first touched in
    different rows are not joined.

    Intervals of processor time: a profile does not record when a row began. Rows of the same
    `start` are therefore taken to have begun in the same interval.
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
    """Do the same as coarsened(); `begun` holds the nanoseconds after which each row began."""
    return _rejoined(profile, interval, begun // interval)


def _rejoined(profile: Profile, interval: int, number: Numbers) -> Profile:
    """Merge neighbouring rows of one thread that have the same number."""
    begins = np.diff(number, prepend=-1) != 0
    begins |= np.diff(profile.thread, prepend=-1) != 0
    return replace(_gathered(profile, np.cumsum(begins) - 1), interval=interval)


def _gathered(profile: Profile, place: Numbers) -> Profile:
    """Add up rows: row i of the profile becomes part of row `place[i]` of the result."""
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
    """Add up touches to one for each mapping and row."""
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
