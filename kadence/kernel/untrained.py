# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds what a layout makes slower: operations that its program did not train, and their objects.

What a program never or seldom ran is compiled for size. Another input may need it.
"""

import bisect
import tempfile
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence.kconfig.layout.sections import Sections, parse
from kadence.kconfig.store.store import Kernel
from kadence.kernel.footprint import Functions
from kadence.lab import counts as lab_counts
from kadence.lab import figures
from kadence.lab.counts import Block
from kadence.lab.figures import Sheet
from kadence.lab.guest import Guest

MOST = 1.01  # times the instructions of the kernel without a layout
ROUNDS = 3  # of an operation; the lab's clock has little noise
# Objects go back, the worst first, until they have so much of all that objects execute more. The
# next round looks at what is left, so that few go back.
ENOUGH = 0.5
NO_OPERATIONS = frozenset({"million"})  # they measure the lab itself


@dataclass(frozen=True)
class Slower:
    """An operation that executes more instructions on the kernel that is laid out."""

    operation: str
    before: float
    after: float


def sheet(kernel: Kernel) -> Sheet:
    """All of the lab's operations that this kernel has."""
    return figures.take(_guest(kernel), rounds=ROUNDS)


def slower(before: Sheet, after: Sheet) -> list[Slower]:
    """The operations that became slower, the worst one first."""
    found = [
        Slower(name, one, other) for name, one, other in pairs(before, after) if other > MOST * one
    ]
    return sorted(found, key=lambda each: each.before / each.after)


def pairs(before: Sheet, after: Sheet) -> Iterable[tuple[str, float, float]]:
    """Each operation's instructions on both kernels."""
    for name, figure in before.figures.items():
        other = after.value(name)
        if name in NO_OPERATIONS or figure.unit != "ns":
            continue
        if figure.median is not None and other is not None:
            yield name, figure.median, other


def objects(
    before: Kernel, after: Kernel, slow: Sequence[Slower], laid_out: Container[str]
) -> list[str]:
    """Which of the objects that are laid out execute more in these operations."""
    operations = [each.operation for each in slow]
    with after.sections.open(encoding="utf-8") as lines:
        sections = Sections(parse(lines))
    objects_after = known(Functions.of(after).pairs, sections)
    neighbours = Neighbours(Functions.of(before).pairs, objects_after)
    then = by_object(_blocks(before, operations), neighbours.object_at)
    now = by_object(_blocks(after, operations), sections.object_at)
    return grown(then, now, laid_out)


def grown(then: Counter[str], now: Counter[str], laid_out: Container[str]) -> list[str]:
    """The fewest of these objects with half of what they execute more, the worst one first."""
    more = {name.removesuffix(".o"): now[name] - then[name] for name in now}
    growth = Counter({name: each for name, each in more.items() if each > 0 and name in laid_out})
    left = ENOUGH * growth.total()
    found = []
    for name, each in growth.most_common():
        if left <= 0:
            break
        found.append(name)
        left -= each
    return found


def by_object(blocks: Iterable[Block], object_at: Callable[[int], str]) -> Counter[str]:
    """Instructions that each object executed."""
    found: Counter[str] = Counter()
    for block in blocks:
        found[object_at(block.address)] += block.instructions * sum(block.counts)
    return found


def known(names: Iterable[tuple[int, str]], sections: Sections) -> dict[str, str]:
    """Functions of a kernel with a linker's map, and their objects."""
    return {source_name(name): sections.object_at(address) for address, name in names}


def source_name(name: str) -> str:
    """The compiler calls parts and copies of f f.cold, f.part.0, f.isra.0 and the like."""
    return name.partition(".")[0]


class Neighbours:
    """Objects of a kernel without a linker's map.

    An object's functions lie side by side. So a function that was inlined in the other kernel has
    the object of the function before it.
    """

    def __init__(self, names: Sequence[tuple[int, str]], known: Mapping[str, str]) -> None:
        self._addresses = [address for address, _ in names]
        self._objects: list[str] = []
        last = ""
        for _, name in names:
            last = known.get(source_name(name), last)
            self._objects.append(last)

    def object_at(self, address: int) -> str:
        """The object with this address."""
        number = bisect.bisect_right(self._addresses, address) - 1
        return self._objects[number] if number >= 0 else ""


def _blocks(kernel: Kernel, operations: Sequence[str]) -> list[Block]:
    with tempfile.TemporaryDirectory(prefix="kadence-counts-") as name:
        folder = Path(name)
        options = lab_counts.options(folder, section=figures.ROUNDS_SECTION)
        figures.take(_guest(kernel), operations, ROUNDS, emulator_options=options)
        return lab_counts.read(folder).blocks


def _guest(kernel: Kernel) -> Guest:
    return Guest(kernel.id, kernel.image)
