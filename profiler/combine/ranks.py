# SPDX-License-Identifier: GPL-2.0-or-later
"""Merges the profiles of a parallel program's ranks into one.

The rows of the ranks follow one another, over a common table of blocks. No two ranks share a
thread number.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.base.errors import ArtefactError
from kadence.profiler.combine import correspondence
from kadence.profiler.combine.correspondence import Columns, relocated
from kadence.profiler.combine.merging import coarsened
from kadence.profiler.format.profile import (
    Block,
    CallSite,
    Facts,
    LayoutCount,
    Mapping,
    Memory,
    Profile,
    SystemCalls,
    Touches,
    Vectors,
)
from kadence.profiler.stream import layoutstream

T = TypeVar("T", int, str)


@dataclass(frozen=True)
class Identity:
    """A profile's name, and the properties that the ranks of one program must have in common."""

    name: str
    build_id: str | None
    backend: str
    interval: int
    unit: str

    @classmethod
    def of(cls, name: str, profile: Profile) -> "Identity":
        """Return the identity of a profile."""
        return cls(name, profile.build_id, profile.backend, profile.interval, profile.unit)


def require_alike(ranks: Sequence[Identity]) -> None:
    """Raise ArtefactError if the profiles are not of ranks of one program."""
    first = ranks[0]
    longest = max(ranks, key=lambda rank: rank.interval)
    for rank in ranks:
        if rank.backend != first.backend:
            raise ArtefactError(
                f"{first.name} and {rank.name} are of different backends ({first.backend} and "
                f"{rank.backend}), which record different things; profile all ranks alike"
            )
        if rank.build_id != first.build_id:
            raise ArtefactError(
                f"{first.name} and {rank.name} are of different programs (build-ids "
                f"{first.build_id} and {rank.build_id}); ranks are profiles of one and the same "
                "build"
            )
        if not _may_be_as_long(rank, longest):
            raise ArtefactError(
                f"{longest.name} has intervals of {longest.interval} {longest.unit} and "
                f"{rank.name} of {rank.interval} {rank.unit}; profile all ranks alike, with the "
                "same --interval"
            )


def _may_be_as_long(rank: Identity, longest: Identity) -> bool:
    return rank.unit == longest.unit and rank.interval > 0 and longest.interval % rank.interval == 0


def of_one_interval(profiles: Sequence[Profile]) -> list[Profile]:
    """Return the profiles with the longest interval of all; a longer run has longer intervals."""
    longest = max(profile.interval for profile in profiles)
    return [
        profile if profile.interval == longest else coarsened(profile, longest)
        for profile in profiles
    ]


def merged(profiles: Sequence[Profile]) -> Profile:
    """Return one profile with the rows of all."""
    columns = correspondence.common_columns(profiles)
    blocks = _blocks(profiles, columns)
    counts = [
        relocated(profile.counts, column, len(blocks))
        for profile, column in zip(profiles, columns, strict=True)
    ]
    return replace(
        profiles[0],
        vectors=RankVectors([profile.vectors for profile in profiles], columns, len(blocks)),
        counts=sparse.csr_array(sparse.vstack(counts, format="csr")),
        instructions=np.concatenate([profile.instructions for profile in profiles]),
        thread=_threads(profiles),
        start=np.concatenate([profile.start for profile in profiles]),
        blocks=blocks,
        system_calls=_system_calls(profiles),
        call_sites=tuple(site for profile in profiles for site in profile.call_sites),
        peers=tuple(peer for profile in profiles for peer in profile.peers),
        layout_counts=_layout_counts(profiles),
        memory=_memory(profiles),
        functions=tuple(dict.fromkeys(one for profile in profiles for one in profile.functions)),
        facts=_facts(profiles),
    )


def _layout_counts(profiles: Sequence[Profile]) -> tuple[LayoutCount, ...]:
    found: Counter[tuple[tuple[str, str, str], int]] = Counter()
    for profile in profiles:
        for one in profile.layout_counts:
            found[(one.function, one.file, one.checksum), one.index] += one.count
    return layoutstream.summed(found)


class RankVectors:
    """The ranks' vectors, one below the other, over the common table of blocks."""

    def __init__(self, parts: Sequence[Vectors], columns: Sequence[Columns], width: int) -> None:
        self._parts, self._columns = parts, columns
        self._edges = np.cumsum([0, *(part.shape[0] for part in parts)])
        self.shape = (int(self._edges[-1]), width)
        self.nnz = sum(part.nnz for part in parts)

    def __getitem__(self, rows: Any) -> sparse.csr_array:
        wanted = np.arange(self.shape[0])[rows]
        part_of = np.searchsorted(self._edges, wanted, side="right") - 1
        found, order = [], []
        for number in np.unique(part_of).tolist():
            places = np.flatnonzero(part_of == number)
            own = self._parts[number][wanted[places] - self._edges[number]]
            found.append(relocated(own, self._columns[number], self.shape[1]))
            order.append(places)
        if not found:
            return sparse.csr_array((0, self.shape[1]))
        stacked = sparse.csr_array(sparse.vstack(found, format="csr"))
        return stacked[np.argsort(np.concatenate(order))]

    def tocsr(self) -> sparse.csr_array:
        return self[:]


def _blocks(profiles: Sequence[Profile], columns: Sequence[Columns]) -> tuple[Block, ...]:
    table: dict[int, Block] = {}
    for profile, column in zip(profiles, columns, strict=True):
        for number, block in zip(column.tolist(), profile.blocks, strict=True):
            table.setdefault(number, block)
    return tuple(table[number] for number in range(len(table)))


def _threads(profiles: Sequence[Profile]) -> npt.NDArray[np.int32]:
    numbers, before = [], 0
    for profile in profiles:
        numbers.append(profile.thread + before)
        before = int(numbers[-1].max(initial=before))
    return np.concatenate(numbers).astype(np.int32)


def _system_calls(profiles: Sequence[Profile]) -> tuple[SystemCalls, ...]:
    calls: list[SystemCalls] = []
    rows = sites = peers = 0
    for profile in profiles:
        calls += [
            replace(
                call,
                interval=call.interval + rows,
                site=None if call.site is None else call.site + sites,
                peer=None if call.peer is None else call.peer + peers,
            )
            for call in profile.system_calls
        ]
        rows += len(profile.instructions)
        sites += len(profile.call_sites)
        peers += len(profile.peers)
    return tuple(calls)


def _memory(profiles: Sequence[Profile]) -> Memory:
    sites: list[CallSite] = []
    mappings: list[Mapping] = []
    touches: list[Touches] = []
    rows = 0
    for profile in profiles:
        memory = profile.memory
        number = len(mappings)
        mappings += [_shifted(mapping, rows, len(sites)) for mapping in memory.mappings]
        sites += memory.sites
        touches += [
            replace(touch, interval=touch.interval + rows, mapping=touch.mapping + number)
            for touch in memory.touches
        ]
        rows += len(profile.instructions)
    return Memory(tuple(sites), tuple(mappings), tuple(touches))


def _shifted(mapping: Mapping, rows: int, sites: int) -> Mapping:
    return replace(
        mapping,
        site=None if mapping.site is None else mapping.site + sites,
        born=mapping.born + rows,
        gone=None if mapping.gone is None else mapping.gone + rows,
    )


def _facts(profiles: Sequence[Profile]) -> Facts:
    """Unite the ranks' facts as of one process: the first threads of all ranks count as one."""
    facts = [profile.facts for profile in profiles]
    return Facts(
        socket_families=_united(fact.socket_families for fact in facts) or (),
        others_system_calls=_united(fact.others_system_calls for fact in facts),
        others_socket_families=_united(fact.others_socket_families for fact in facts),
        threads=1 + sum(_known(fact.threads, 1) - 1 for fact in facts),
        processes=_processes(facts),
        shared_memory=any(fact.shared_memory for fact in facts),
        memory_bytes=sum(_known(fact.memory_bytes, 0) for fact in facts),
        memory_rows_unseen=sum(_known(fact.memory_rows_unseen, 0) for fact in facts),
        memory_limit_bytes=min(_known(fact.memory_limit_bytes, 0) for fact in facts),
    )


def _known(number: int | None, otherwise: int) -> int:
    return otherwise if number is None else number


def _united(values: Iterable[tuple[T, ...] | None]) -> tuple[T, ...] | None:
    """Return all different values in order; None if no rank knows any."""
    known = [each for each in values if each is not None]
    return tuple(sorted({one for each in known for one in each})) if known else None


def _processes(facts: Sequence[Facts]) -> int:
    """Return the number of processes of all ranks.

    A rank that another rank forked is counted in both facts, and therefore subtracted. Only the
    command's own process, which may be one of the ranks, has no number.
    """
    counted = sum(_known(fact.processes, 1) for fact in facts)
    numbers = {fact.process for fact in facts}
    forked = [
        fact
        for fact in facts
        if fact.parent is not None and (None in numbers or fact.parent in numbers)
    ]
    return max(counted - len(forked), len(facts))
