# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that every value of a profile has its declared type and a possible value.

The readers of the forms check that the parts of a profile fit together. With both checks, later
stages may rely on a profile. These checks do not read a long profile's matrices a second time.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kadence.profiler.format.profile import (
    MEMORY_KINDS,
    Block,
    Facts,
    LayoutCount,
    Mapping,
    Memory,
    Profile,
    Touches,
    backend_of,
)

UNITS = ("instructions", "nanoseconds")
LARGEST = 2**63 - 1


def check(profile: Profile) -> None:
    """Raise ValueError, with a description of the fault, if a value is impossible."""
    _check_run(profile)
    _check_facts(profile.facts)
    _check_rows(profile)
    _check_blocks(profile.blocks)
    _check_layout(profile.layout_counts)
    _check_calls(profile)
    _check_texts(_texts(profile))
    _check_memory(profile.memory, len(profile.instructions))


def _wanted(condition: bool, what: str) -> None:
    if not condition:
        raise ValueError(what)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LARGEST


def _check_run(profile: Profile) -> None:
    _wanted(_is_count(profile.interval), "its interval is not a number")
    backend_of(profile.backend)
    _wanted(profile.unit in UNITS, f"its unit {profile.unit!r} is unknown")
    _wanted(_is_count(profile.exit_status), "its exit status is not a number")


def _check_facts(facts: Facts) -> None:
    for name, value in vars(facts).items():
        if isinstance(value, int):
            _wanted(_is_count(int(value)), f"its fact {name} is an impossible number")
    families = (*(facts.socket_families or ()), *(facts.others_socket_families or ()))
    _wanted(all(map(_is_count, families)), "a socket family is an impossible number")


def _check_rows(profile: Profile) -> None:
    _wanted(not profile.instructions.size or profile.instructions.min() >= 0, "a row is negative")
    for values in (profile.counts.data, getattr(profile.vectors, "data", None)):
        if values is not None and values.dtype.kind == "f":
            _wanted(bool(np.isfinite(values).all()), "a count is not a number")


def _check_blocks(blocks: Sequence[Block]) -> None:
    for block in blocks:
        right = all(map(_is_count, (block.instructions, block.line, block.waits)))
        _wanted(right, f"the block at {block.address:#x} has an impossible number")


def _check_layout(counts: Sequence[LayoutCount]) -> None:
    right = all(_is_count(one.index) and _is_count(one.count) for one in counts)
    _wanted(right, "a count for the layout is an impossible number")


def _check_calls(profile: Profile) -> None:
    rows, sites, peers = len(profile.instructions), len(profile.call_sites), len(profile.peers)
    for call in profile.system_calls:
        _wanted(0 <= call.interval < rows, "a system call was made in an unknown row")
        _wanted(call.site is None or 0 <= call.site < sites, "a system call has an unknown site")
        _wanted(call.peer is None or 0 <= call.peer < peers, "a system call has an unknown peer")
        counts = (call.count, call.bytes, call.sequential, call.random, call.gaps)
        between = (call.instructions_between, call.nanoseconds_between)
        right = all(map(_is_count, (*counts, *between, *call.sizes)))
        _wanted(right, "a system call has an impossible number")
    _wanted(all(_is_count(site.line) for site in profile.call_sites), "a call site has no line")
    _wanted(all(_is_count(peer.family) for peer in profile.peers), "a peer has no family")


def _texts(profile: Profile) -> Iterable[Any]:
    yield from (profile.build_id or "", *profile.argv, *profile.command)
    for block in profile.blocks:
        yield from (block.function, block.file, block.object, block.checksum)
    for one in profile.layout_counts:
        yield from (one.function, one.file, one.checksum)
    for function in profile.functions:
        yield from (function.name, function.file, function.cfg_checksum)
    for call in profile.system_calls:
        yield from (call.name, call.descriptor)
    for site in profile.memory.sites:
        yield from (site.call, site.function, site.file, site.object)
    for place in profile.call_sites:
        yield from (place.call, place.function, place.file, place.object)
    yield from (peer.address for peer in profile.peers)


def _check_texts(texts: Iterable[Any]) -> None:
    _wanted(all(type(text) is str for text in texts), "a name is not text")


def _check_memory(memory: Memory, rows: int) -> None:
    for site in memory.sites:
        _wanted(_is_count(site.line), "an allocation site has no line")
    for mapping in memory.mappings:
        _check_mapping(mapping, len(memory.sites), rows)
    for touch in memory.touches:
        _check_touches(touch, len(memory.mappings), rows)


def _check_mapping(mapping: Mapping, sites: int, rows: int) -> None:
    right = _is_count(mapping.bytes) and _is_count(mapping.request)
    _wanted(right and _is_count(mapping.beside), "a mapping has an impossible size")
    _wanted(mapping.kind in MEMORY_KINDS, f"a mapping's kind {mapping.kind!r} is unknown")
    known = mapping.site is None or 0 <= mapping.site < sites
    _wanted(known, "a mapping names an unknown allocation site")
    ends = (mapping.born, mapping.born if mapping.gone is None else mapping.gone)
    _wanted(all(0 <= row < rows for row in ends), "a mapping comes or goes in an unknown row")


def _check_touches(touch: Touches, mappings: int, rows: int) -> None:
    known = 0 <= touch.mapping < mappings and 0 <= touch.interval < rows
    _wanted(known, "pages of an unknown mapping or row were touched")
    counts = (touch.pages, touch.runs, touch.upward, touch.downward, touch.released)
    _wanted(all(map(_is_count, counts)), "a number of touched pages is impossible")
    fitting = touch.runs <= touch.pages and touch.upward + touch.downward <= touch.pages
    _wanted(fitting, "more runs than pages were touched")
