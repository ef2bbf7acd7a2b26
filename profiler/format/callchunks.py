# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes and reads the chunks of a profile that hold system calls; the format is in kprof.py."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO

import numpy as np

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
from kadence.profiler.format.profile import CallSite, Peer, Profile, SystemCalls
from kadence.profiler.format.sitechunks import from_one, or_none

SITES, PEERS, CALLS = CHUNKS = ("CSIT", "PEER", "CALL")


@dataclass(frozen=True)
class Found:
    """The contents of the chunks."""

    sites: tuple[CallSite, ...]
    peers: tuple[Peer, ...]
    calls: tuple[SystemCalls, ...]


def bodies(profile: Profile, texts: Texts) -> dict[str, bytes]:
    """Return the bytes of each chunk."""
    return {
        SITES: sitechunks.body(profile.call_sites, texts),
        PEERS: _peers(profile.peers, texts),
        CALLS: _calls(profile.system_calls, texts),
    }


def _peers(peers: Sequence[Peer], texts: Texts) -> bytes:
    return packed(peer.family for peer in peers) + packed(
        texts.number(peer.address) for peer in peers
    )


def _calls(calls: Sequence[SystemCalls], texts: Texts) -> bytes:
    return b"".join(
        (
            packed(differences_of(call.interval for call in calls)),
            packed(texts.number(call.name) for call in calls),
            packed(texts.number(call.descriptor) for call in calls),
            packed(call.count for call in calls),
            packed(call.bytes for call in calls),
            packed(from_one(call.site) for call in calls),
            packed(from_one(call.peer) for call in calls),
            packed(call.sequential for call in calls),
            packed(call.random for call in calls),
            packed(call.gaps for call in calls),
            packed(call.instructions_between for call in calls),
            packed(call.nanoseconds_between for call in calls),
            packed(len(call.sizes) for call in calls),
            packed(chain.from_iterable(call.sizes for call in calls)),
        )
    )


def read(file: BinaryIO, texts: Sequence[str], rows: int) -> Found:
    """Read the chunks; raise ValueError if a call names a row, site or peer that does not exist."""
    sites = sitechunks.read(whole_columns(Chunk(file, SITES)), texts)
    peers = _read_peers(whole_columns(Chunk(file, PEERS)), texts)
    calls = _read_calls(whole_columns(Chunk(file, CALLS)), texts)
    for call in calls:
        if not 0 <= call.interval < rows:
            raise ValueError("a system call belongs to an unknown row")
        if from_one(call.site) > len(sites) or from_one(call.peer) > len(peers):
            raise ValueError("a system call names an unknown site or peer")
    return Found(sites, peers, calls)


def _read_peers(columns: Sequence[Array], texts: Sequence[str]) -> tuple[Peer, ...]:
    families, addresses = (column.tolist() for column in columns)
    return tuple(
        Peer(family, texts[address]) for family, address in zip(families, addresses, strict=True)
    )


def _read_calls(columns: Sequence[Array], texts: Sequence[str]) -> tuple[SystemCalls, ...]:
    intervals, names, descriptors, *plain, lengths, sizes = columns
    ends = np.cumsum(lengths, dtype=np.int64)
    if lengths.size and ends[-1] != sizes.size:
        raise ValueError("the number of transfer sizes is wrong")
    values = sizes.tolist()
    begins = (ends - lengths).tolist()
    counts, moved, sites, peers, sequential, random, *between = (c.tolist() for c in plain)
    return tuple(
        SystemCalls(
            interval,
            texts[name],
            texts[descriptor],
            *numbers,
            site=or_none(site),
            peer=or_none(peer),
            sequential=in_order,
            random=elsewhere,
            sizes=tuple(values[begin:end]),
            gaps=gaps,
            instructions_between=instructions,
            nanoseconds_between=nanoseconds,
        )
        for (
            (interval, name, descriptor),
            numbers,
            (site, peer, in_order, elsewhere),
            (gaps, instructions, nanoseconds),
            (begin, end),
        ) in zip(
            zip(sums_of(intervals).tolist(), names.tolist(), descriptors.tolist(), strict=True),
            zip(counts, moved, strict=True),
            zip(sites, peers, sequential, random, strict=True),
            zip(*between, strict=True),
            zip(begins, ends.tolist(), strict=True),
            strict=True,
        )
    )
