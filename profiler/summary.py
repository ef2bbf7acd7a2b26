# SPDX-License-Identifier: GPL-2.0-or-later
"""Summarises a profile, as text for people and as JSON."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from kadence.profiler.combine import waiting
from kadence.profiler.format.profile import COMPILED, Block, Memory, Profile, backend_of

HOTTEST = 10  # functions, blocks, calls and sites to show
PAGE = 4096
STRIP = 10_000  # rows to add up at a time
UNKNOWN = "?"

Entry = dict[str, Any]
Numbers = npt.NDArray[np.float64]


def document(profile: Profile) -> Entry:
    """Return the summary in plain types; instructions of the backend `compiled` are estimates."""
    instructions, entries = _by_block(profile)
    total = int(profile.instructions.sum())
    return {
        "program": list(profile.argv),
        "command": list(profile.command),
        "build_id": profile.build_id,
        "backend": profile.backend,
        "exit_status": profile.exit_status if profile.tasks_seen else None,
        "complete": profile.facts.complete is not False if profile.tasks_seen else None,
        "interval": profile.interval,
        "unit": profile.unit,
        "intervals": len(profile.instructions),
        "instructions": total,
        "threads": _threads(profile),
        "processes": profile.facts.processes,
        "waiting": _waiting(profile, total),
        "blocks": len(profile.blocks),
        "functions_compiled_by_a_wrapper": len(profile.functions),
        "hottest_functions": _functions(profile.blocks, instructions, total),
        "hottest_blocks": _blocks(profile.blocks, instructions, entries, total),
        "system_calls": _system_calls(profile),
        "call_sites": _call_sites(profile),
        "peers": [{"family": peer.family, "address": peer.address} for peer in profile.peers],
        "memory": _memory(profile.memory) | {"mapped_bytes": profile.facts.memory_bytes},
    }


def _by_block(profile: Profile) -> tuple[Numbers, Numbers]:
    """Return the whole run's instructions and entries by block.

    The sums are made strip by strip, because a long profile would not fit into memory twice.
    """
    sums = np.zeros(len(profile.blocks)), np.zeros(len(profile.blocks))
    for first in range(0, len(profile.instructions), STRIP):
        part = slice(first, first + STRIP)
        for found, matrix in zip(sums, (profile.vectors[part], profile.counts[part]), strict=True):
            found += matrix.sum(axis=0, dtype=np.float64)
    return sums


def _threads(profile: Profile) -> list[Entry]:
    return [
        {
            "thread": int(thread),
            "intervals": int((profile.thread == thread).sum()),
            "instructions": int(profile.instructions[profile.thread == thread].sum()),
        }
        for thread in np.unique(profile.thread)
    ]


def _waiting(profile: Profile, total: int) -> Entry:
    """Return how much threads waited, which includes waiting in intervals that mostly computed."""
    spun = float(waiting.shares(profile) @ profile.instructions)
    return {"intervals": int(waiting.rows(profile).sum()), "share": _share(spun, total)}


def _share(part: float, whole: float) -> float:
    return round(part / whole, 6) if whole else 0.0


def _functions(blocks: Sequence[Block], instructions: Numbers, total: int) -> list[Entry]:
    sums: dict[tuple[str, str], float] = defaultdict(float)
    first: dict[tuple[str, str], Block] = {}
    for block, ran in zip(blocks, instructions.tolist(), strict=True):
        key = (block.function, block.object)
        sums[key] += ran
        # Show the function by its entry block, or else by its block with the lowest line.
        known = first.setdefault(key, block)
        if (not block.entry, block.line) < (not known.entry, known.line):
            first[key] = block
    hottest = sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:HOTTEST]
    return [
        _place(first[key]) | {"instructions": int(ran), "share": _share(ran, total)}
        for key, ran in hottest
    ]


def _place(block: Block) -> Entry:
    return {
        "function": block.function,
        "file": block.file,
        "line": block.line,
        "object": block.object,
    }


def _blocks(
    blocks: Sequence[Block], instructions: Numbers, entries: Numbers, total: int
) -> list[Entry]:
    hottest = np.argsort(-instructions, kind="stable")[:HOTTEST].tolist()
    return [
        _place(blocks[number])
        | {
            "block": number + 1,
            "address": blocks[number].address,
            "index": blocks[number].index,
            "entries": int(entries[number]),
            "instructions": int(instructions[number]),
            "share": _share(instructions[number], total),
        }
        for number in hottest
    ]


def _system_calls(profile: Profile) -> list[Entry]:
    sums: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for call in profile.system_calls:
        found = sums[call.name, call.descriptor]
        found[0] += call.count
        found[1] += call.bytes
    ordered = sorted(sums.items(), key=lambda item: (-item[1][0], item[0]))
    return [
        {"name": name, "descriptor": descriptor, "count": count, "bytes": moved}
        for (name, descriptor), (count, moved) in ordered
    ]


def _call_sites(profile: Profile) -> list[Entry]:
    """Return the sites with most calls, with the system calls and descriptors."""
    sums: dict[tuple[int, str, str], list[int]] = defaultdict(lambda: [0, 0])
    for call in profile.system_calls:
        if call.site is not None:
            found = sums[call.site, call.name, call.descriptor]
            found[0] += call.count
            found[1] += call.bytes
    ordered = sorted(sums.items(), key=lambda item: (-item[1][0], item[0]))[:HOTTEST]
    return [
        asdict(profile.call_sites[site])
        | {"name": name, "descriptor": descriptor, "count": count, "bytes": moved}
        for (site, name, descriptor), (count, moved) in ordered
    ]


def _memory(memory: Memory) -> Entry:
    """Return touched pages by site; memory without a site is listed by its kind."""
    pages: dict[int, int] = defaultdict(int)
    for touch in memory.touches:
        pages[touch.mapping] += touch.pages
    sites: dict[int | str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for number, mapping in enumerate(memory.mappings):
        found = sites[mapping.kind if mapping.site is None else mapping.site]
        found[0] += 1
        found[1] = max(found[1], mapping.bytes)
        found[2] += pages[number]
    ordered = sorted(sites.items(), key=lambda item: (-item[1][2], str(item[0])))[:HOTTEST]
    return {
        "mappings": len(memory.mappings),
        "pages_touched": sum(pages.values()),
        "sites": [
            _site(memory, key)
            | {"mappings": count, "largest_bytes": largest, "pages_touched": touched}
            for key, (count, largest, touched) in ordered
        ],
    }


def _site(memory: Memory, key: int | str) -> Entry:
    if isinstance(key, str):
        return {"call": "", "function": key, "file": "", "line": 0, "object": ""}
    return asdict(memory.sites[key])


# ---- as text ---------------------------------------------------------------------------------


def text(found: Mapping[str, Any]) -> str:
    """Return a document as text; bytes of names that are not UTF-8 appear as escapes."""
    return "\n".join(_lines(found)).encode("utf-8", "backslashreplace").decode("utf-8")


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    yield from _run(found)
    yield ""
    yield "Hottest functions"
    yield from _table((_percent(one), _named(one)) for one in found["hottest_functions"])
    yield ""
    yield "Hottest blocks"
    yield from _table(
        (_percent(one), f"{one['entries']:,} times", _spot(one)) for one in found["hottest_blocks"]
    )
    if found["system_calls"]:
        yield ""
        yield "System calls"
        yield from _table(map(_call, found["system_calls"][:HOTTEST]))
        yield from _more(len(found["system_calls"]))
    if found["call_sites"]:
        yield ""
        yield "Where they come from"
        yield from _table((*_call(one)[:1], _from(one)) for one in found["call_sites"])
    if found["memory"]["mappings"]:
        yield ""
        yield from _memory_lines(found["memory"])


def _run(found: Mapping[str, Any]) -> Iterator[str]:
    command = found["program"] or found["command"]
    yield f"program       {' '.join(command) or UNKNOWN}"
    if found["build_id"]:
        yield f"build-id      {found['build_id']}"
    backend = backend_of(found["backend"])
    yield f"recorded      {backend.recorded}{_ended(found)}"
    if not backend.kernel_seen:
        yield f"not seen      system calls, memory{'' if backend.tasks_seen else ', threads'}"
    estimated = " (estimated)" if found["backend"] == COMPILED else ""
    yield f"instructions  {found['instructions']:,}{estimated}"
    yield f"intervals     {found['intervals']:,} of {found['interval']:,} {found['unit']}"
    if backend.tasks_seen:
        threads = found["threads"]
        each = "".join(f"; {one['thread']}: {one['instructions']:,}" for one in threads[:HOTTEST])
        yield f"threads       {len(threads)}{each if len(threads) > 1 else ''}"
    if found["waiting"]["intervals"]:
        spun = found["waiting"]
        yield f"waiting       {spun['intervals']:,} intervals; {spun['share']:.1%} of all was spun"
    yield f"blocks        {found['blocks']:,}"


def _ended(found: Mapping[str, Any]) -> str:
    if found["complete"] is None:
        return ""
    if not found["complete"]:
        return "; incomplete: it ends before the program did"
    return f"; ended with status {found['exit_status']}"


def _percent(one: Mapping[str, Any]) -> str:
    return f"{one['share']:.1%}"


def _named(one: Mapping[str, Any]) -> str:
    name = one["function"] or UNKNOWN
    if one["file"]:
        return f"{name}  {PurePath(one['file']).name}:{one['line']}"
    return f"{name}  {PurePath(one['object']).name}".rstrip()


def _spot(one: Mapping[str, Any]) -> str:
    if one["index"] is not None:
        return f"{_named(one)}, block {one['index']}"
    return f"{_named(one)}, at {one['address']:#x}"


def _call(one: Mapping[str, Any]) -> tuple[str, str]:
    moved = f", {one['bytes']:,} bytes" if one["bytes"] else ""
    kind = f" ({one['descriptor']})" if one["descriptor"] else ""
    return f"{one['count']:,}", f"{one['name']}{kind}{moved}"


def _from(one: Mapping[str, Any]) -> str:
    return f"{_call(one)[1]}: {_named(one)}"


def _memory_lines(memory: Mapping[str, Any]) -> Iterator[str]:
    mapped = memory["mapped_bytes"]
    peak = f", {mapped / 2**20:,.1f} MiB mapped at most" if mapped else ""
    touched = memory["pages_touched"] * PAGE / 2**20
    yield f"Memory: {touched:,.1f} MiB touched for the first time{peak}"
    yield from _table(
        (
            f"{one['pages_touched'] * PAGE / 2**20:,.1f} MiB",
            f"{_named(one)}{', by ' + one['call'] if one['call'] else ''}",
        )
        for one in memory["sites"]
        if one["pages_touched"]
    )


def _more(count: int) -> Iterator[str]:
    if count > HOTTEST:
        yield f"  and {count - HOTTEST} more"


def _table(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Format a table; all columns but the last are right-aligned."""
    cells = list(rows)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        figures = zip(row[:-1], widths[:-1], strict=True)
        yield "  " + "  ".join([*(f"{cell:>{width}}" for cell, width in figures), row[-1]])
