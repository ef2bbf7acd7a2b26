# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts the blocks of code that a guest runs, and the misses of caches through which it comes.

A plugin of QEMU counts, which the guest does not see (kadence/lab/counting/plugin.c).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import GuestError

PLUGIN = "kadence/lab-counts.so"
COUNTS = "counts"
SWITCH = "__switch_to_asm"
# Instruction caches of servers' processors: bytes and ways. A line has 64 bytes.
GEOMETRIES = ((32768, 8), (49152, 12), (65536, 4))


@dataclass(frozen=True)
class Block:
    """Instructions of the kernel that QEMU translated together, and how often they ran.

    Phase 0 is outside of phases; `Counted.phases` names the others.
    """

    address: int
    bytes: int
    instructions: int
    ending: str  # as blocks.h names them
    target: int
    counts: tuple[int, ...]  # by phase


@dataclass(frozen=True)
class ProgramBlock:
    """The same of a program. Pages of the host tell apart what lies at the same address."""

    begin: bytes  # its first bytes, 16 at most
    page: int
    address: int
    bytes: int
    instructions: int
    counts: tuple[int, ...]  # by phase


@dataclass(frozen=True)
class Edge:
    """How often one block ran right after another one, interrupts left out."""

    address: int  # of the block
    bytes: int
    successor: int
    counts: tuple[int, ...]  # by phase


@dataclass(frozen=True)
class Cache:
    """Misses in a cache of instructions, in 2 MiB behind it, and in 64 translations of 4 KiB."""

    bytes: int
    ways: int
    misses: int
    second_level_misses: int
    translation_misses: int


@dataclass(frozen=True)
class Line:
    """How often the processor fetched from 64 bytes of code, and missed them, by geometry."""

    address: int
    page: int  # of the host
    fetches: int
    misses: tuple[int, ...]


@dataclass(frozen=True)
class Eviction:
    """How often a line was missed in the first geometry because another one had taken its place."""

    address: int
    by: int
    count: int


@dataclass
class Counted:
    """All that was counted."""

    kernel: int = 0  # instructions
    programs: int = 0
    phases: dict[int, int] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    program_blocks: list[ProgramBlock] = field(default_factory=list)
    caches: list[Cache] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    evictions: list[Eviction] = field(default_factory=list)


def options(
    folder: Path,
    *,
    geometries: Sequence[tuple[int, int]] = (),
    section: int = 1,
    only_programs: bool = False,
    switch: int | None = None,
) -> tuple[str, ...]:
    """QEMU's options for a guest; `folder` then has the counts.

    With `switch`, the address of SWITCH, counts are by phase. `only_programs` keeps the kernel out
    of the caches.
    """
    words = [f"{resources.built(PLUGIN)},out={folder / COUNTS},section={section}"]
    if geometries:
        words.append("caches=" + "+".join(f"{size}/{ways}" for size, ways in geometries))
    if only_programs:
        words.append("only=programs")
    if switch is not None:
        words.append(f"switch={switch:x}")
    return ("-plugin", ",".join(words))


def read(folder: Path) -> Counted:
    """What the plugin wrote when the guest ended."""
    try:
        with (folder / COUNTS).open(encoding="ascii") as lines:
            return parse(lines)
    except FileNotFoundError as error:
        raise GuestError("QEMU ended without the counts of its plugin") from error


def parse(lines: Iterable[str]) -> Counted:
    """Parse the plugin's lines, whose first word tells what follows."""
    found = Counted()
    for line in lines:
        kind, *words = line.split()
        _PARSERS[kind](found, words)
    return found


def _ran(found: Counted, words: list[str]) -> None:
    found.kernel, found.programs = map(int, words)


def _phase(found: Counted, words: list[str]) -> None:
    number, phase = map(int, words)
    found.phases[number] = phase


def _block(found: Counted, words: list[str]) -> None:
    address, size, instructions, ending, target, *counts = words
    found.blocks.append(
        Block(
            int(address, 16),
            int(size),
            int(instructions),
            ending,
            int(target, 16),
            tuple(map(int, counts)),
        )
    )


def _edge(found: Counted, words: list[str]) -> None:
    address, size, successor, *counts = words
    counted = tuple(map(int, counts))
    found.edges.append(Edge(int(address, 16), int(size), int(successor, 16), counted))


def _program(found: Counted, words: list[str]) -> None:
    page, address, size, instructions, begin, *counts = words
    found.program_blocks.append(
        ProgramBlock(
            bytes.fromhex(begin),
            int(page, 16),
            int(address, 16),
            int(size),
            int(instructions),
            tuple(map(int, counts)),
        )
    )


def _cache(found: Counted, words: list[str]) -> None:
    found.caches.append(Cache(*map(int, words)))


def _line(found: Counted, words: list[str]) -> None:
    address, page, fetches, *misses = words
    counts = tuple(map(int, misses))
    found.lines.append(Line(int(address, 16), int(page, 16), int(fetches), counts))


def _evicted(found: Counted, words: list[str]) -> None:
    address, by, count = words
    found.evictions.append(Eviction(int(address, 16), int(by, 16), int(count)))


_PARSERS = {
    "ran": _ran,
    "phase": _phase,
    "block": _block,
    "edge": _edge,
    "program": _program,
    "cache": _cache,
    "line": _line,
    "evicted": _evicted,
}
