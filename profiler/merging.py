# SPDX-License-Identifier: GPL-2.0-or-later
"""All threads of a profile as one: a row for each stretch of their common time."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import zip_longest

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.profiler.profile import Memory, Profile, SystemCalls

ALL_THREADS = 1

Key = tuple[int, str, str, int | None, int | None]
Numbers = npt.NDArray[np.int64]


def merged(profile: Profile) -> Profile:
    """The profile with one row for each interval of the instructions that all threads ran.

    A thread's row belongs, whole, to the interval that its `start` is nearest to the beginning
    of; a row of the result is the sum of its rows, in the order of time, and starts with the first
    of them. With a single thread this is the profile itself.
    """
    number = (profile.start + profile.interval // 2) // profile.interval
    found, place = np.unique(number, return_inverse=True)
    rows = len(number)
    ones = np.ones(rows, dtype=np.int64)
    sums = sparse.csr_array((ones, (place, np.arange(rows))), (len(found), rows))
    start = np.full(len(found), np.iinfo(np.int64).max)
    np.minimum.at(start, place, profile.start)
    return replace(
        profile,
        vectors=_summed(sums, profile.vectors.tocsr()),
        counts=_summed(sums, profile.counts),
        instructions=sums @ profile.instructions,
        thread=np.full(len(found), ALL_THREADS, dtype=np.int32),
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
    touches = [replace(touch, interval=int(place[touch.interval])) for touch in memory.touches]
    touches.sort(key=lambda touch: touch.interval)
    return replace(memory, mappings=mappings, touches=tuple(touches))
