# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes records to files, pipes and sockets: compares rings and batches with other ways to write.

In the lab the unit is instructions, on a kernel tailored to the program. On User-Mode Linux, where
a system call takes tens of microseconds, and on this machine's own kernel it is nanoseconds. A
record's cost includes its share of draining a file's ring and of reading at the other end. After
every round the program compares the received records with those sent.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from bench.base import tailored
from bench.base.rows import MISSED, spread
from bench.io import io_needs
from bench.io.io_places import ADAPTED, PLAIN, Found, Lab, Machine, Place, UserMode, make_disk
from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.kconfig.store.build import BuildRequest, build
from kadence.lab import Figure, Guest
from kadence.lab.guest import X86_64

SIZES = (16, 64, 256, 1024)
# The call of the table's first column, by place.
CALLS = {"file": "write", "ext4": "write", "pipe": "write", "tcp": "send", "local": "send"}
NAMES = {
    "file": "file (tmpfs)",
    "ext4": "file (ext4)",
    "pipe": "pipe",
    "tcp": "TCP",
    "local": "UNIX socket",
}
FILES = ("file", "ext4")  # the places that have rings
GOALS = {("file", 16): 60, ("file", 256): 230, ("file", 1024): 830}
OTHERS = ("sendmmsg", "zerocopy", "splice", "stdio")
LATENCIES = ("tcp.pingpong.64", "local.pingpong.64")
MOST_LATENCY = 1.02

Chosen = Sequence[tuple[str, int]]  # place and size


@dataclass(frozen=True)
class Taken:
    """All figures of one place, by the build of the program."""

    place: Place
    plain: Found
    adapted: Found


def operations(chosen: Chosen) -> list[str]:
    """Returns the plain program's operations. The adapted program's have the same names."""
    methods = ("writev", "io_uring", "buffer", *OTHERS, "batch")
    wanted = [f"{place}.{CALLS[place]}.{size}" for place, size in chosen]
    wanted += [f"{place}.{method}.{size}" for place, size in chosen for method in methods]
    wanted += flushes(chosen)
    return [name for name in wanted if _exists(name)] + list(LATENCIES)


def _exists(name: str) -> bool:
    place, method, _ = name.split(".")
    if method == "sendmmsg":
        return place in {"tcp", "local"}
    return method != "zerocopy" or place == "tcp"


def measure(place: Place, chosen: Chosen) -> Taken:
    """Measure the plain program, and the operations that its adaptation changes."""
    rings = [f"{place}.{CALLS[place]}.{size}" for place, size in files(chosen)]
    batches = [f"{place}.batch.{size}" for place, size in chosen]
    adapted = [*rings, *batches, *flushes(chosen), *LATENCIES]
    return Taken(place, place.measure(PLAIN, operations(chosen)), place.measure(ADAPTED, adapted))


def files(chosen: Chosen) -> list[tuple[str, int]]:
    """Returns the chosen records whose place is a file."""
    return [(place, size) for place, size in chosen if place in FILES]


def flushes(chosen: Chosen) -> list[str]:
    """Returns the operations that flush a C library stream after each record."""
    return [f"{place}.flush.{size}" for place, size in files(chosen)]


def text(figure: Figure | None) -> str:
    """Returns a median, or why there is none."""
    return "" if figure is None else str(figure)


def records(taken: Taken, chosen: Chosen, judge: bool) -> list[list[str]]:
    """Returns the main table. The goals are for the lab's instructions."""
    unit = taken.place.unit
    head = [f"a record, {unit}", "write/send", "writev x64", "io_uring x64", "user buffer"]
    table = [[*head, "ring", "batch x64", "goal", ""]]
    for place, size in chosen:
        call = f"{place}.{CALLS[place]}.{size}"
        methods = [f"{place}.{method}.{size}" for method in ("writev", "io_uring", "buffer")]
        goal = GOALS.get((place, size)) if judge else None
        ring = taken.adapted.get(call)
        table.append(
            [
                f"{NAMES[place]} {size:,} B",
                *(text(taken.plain.get(name)) for name in (call, *methods)),
                spread(ring) if ring else "",
                text(taken.adapted.get(f"{place}.batch.{size}")),
                f"<= {goal:,}" if goal else "",
                verdict(ring.median if ring else None, goal),
            ]
        )
    return table


def verdict(found: float | None, most: float | None) -> str:
    """Says whether a goal was reached. A figure that could not be measured did not reach it."""
    if most is None:
        return ""
    return "met" if found is not None and found <= most else MISSED


def beside(taken: Taken, chosen: Chosen) -> list[list[str]]:
    """Returns the table of the other ways to write."""
    table = [[f"a record, {taken.place.unit}", *OTHERS]]
    for place, size in chosen:
        found = [taken.plain.get(f"{place}.{method}.{size}") for method in OTHERS]
        table.append([f"{NAMES[place]} {size:,} B", *map(text, found)])
    return table


def flushed(taken: Taken, chosen: Chosen) -> list[list[str]]:
    """Returns the table of a record and a flush of its stream, plain and by a ring."""
    table = [[f"a record and a flush, {taken.place.unit}", "plain", "ring"]]
    for place, size in files(chosen):
        name = f"{place}.flush.{size}"
        line = [f"{NAMES[place]} {size:,} B", text(taken.plain[name]), spread(taken.adapted[name])]
        table.append(line)
    return table


def latency(taken: Taken) -> list[list[str]]:
    """Returns the table of a request and its answer, plain and in a program with I/O paths."""
    unit = taken.place.unit
    table = [[f"a round trip of 64 B, {unit}", "plain", "adapted", "ratio", "goal", ""]]
    for name in LATENCIES:
        plain, adapted = taken.plain[name], taken.adapted[name]
        ratio = adapted.median / plain.median if plain.median and adapted.median else None
        table.append(
            [
                NAMES[name.split(".")[0]],
                spread(plain),
                spread(adapted),
                "" if ratio is None else f"{ratio:.3f}",
                f"<= {MOST_LATENCY}",
                verdict(ratio, MOST_LATENCY),
            ]
        )
    return table


def aligned(table: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yields lines of text, the first column aligned to the left and the others to the right."""
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    for line in table:
        rest = [f"{cell:>{width}}" for cell, width in zip(line[1:], widths[1:], strict=True)]
        yield "  ".join([f"{line[0]:<{widths[0]}}", *rest]).rstrip()


def report(taken: Taken, chosen: Chosen, judge: bool) -> Iterator[str]:
    """Yields all tables of one place."""
    yield f"{taken.place.name}: median of the rounds, with the lowest and highest of the ring's"
    tables = [records(taken, chosen, judge), beside(taken, chosen)]
    if files(chosen):
        tables.append(flushed(taken, chosen))
    tables.append(latency(taken))
    for table in tables:
        yield from aligned(table)
        yield ""


def lab() -> Lab:
    """Returns the lab with a kernel for this program, and a disk for ext4."""
    kernel = tailored.kernel("io", io_needs.NEEDS, X86_64, io_needs.OVERRIDES)
    folder = resources.home() / "build" / "bench" / "io"
    return Lab(Guest(f"tailored {kernel.id}", kernel.image), make_disk(folder / "disk.ext4"))


def everything(chosen: Chosen, found: list[Taken]) -> Iterator[str]:
    """Yields all lines as soon as they are known."""
    places: list[Place] = [lab(), UserMode(build(BuildRequest())), Machine()]
    for place in places:
        # Only the lab has a disk.
        there = [one for one in chosen if one[0] != "ext4" or isinstance(place, Lab)]
        if not there:
            continue
        taken = measure(place, there)
        found.append(taken)
        yield from report(taken, there, judge=isinstance(place, Lab))


def keep(lines: Sequence[str], found: Sequence[Taken]) -> None:
    """Write tables and figures to build/bench/."""
    folder = resources.home() / "build" / "bench"
    (folder / "io.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    figures = {
        taken.place.name: {
            make: [asdict(figure) for figure in part.values()]
            for make, part in ((PLAIN, taken.plain), (ADAPTED, taken.adapted))
        }
        for taken in found
    }
    (folder / "io.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    """Measure, print each line as soon as it is known, and keep the output."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="records whose PLACE.SIZE this matches")
    options = parser.parse_args()
    every = [(place, size) for place in CALLS for size in SIZES]
    chosen = [(place, size) for place, size in every if re.search(options.only, f"{place}.{size}")]
    if not chosen:
        parser.error(f"no record matches {options.only!r}")
    lines: list[str] = []
    found: list[Taken] = []
    for line in everything(chosen, found):
        print(line, flush=True)
        lines.append(line)
    keep(lines, found)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-io: {error}")
