# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides what is copied of a kernel, in which order, and which callers are sent to the copies."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kadence.kconfig.layout.order import Flow, pettis_hansen
from kadence.lab.counts import Counted, Edge
from kadence.positioned import code, entries
from kadence.positioned.code import Functions, Ran
from kadence.positioned.counting import Kernel
from kadence.positioned.image import Image

# Of all executed bytes of the kernel; the copies have the hottest code with this share.
SHARE = 0.99
MOST_ROUNDS = 10


@dataclass(frozen=True)
class Layout:
    """What is copied, in its order, and the functions whose callers are sent to the copies."""

    functions: Functions
    order: Sequence[int]
    entries: Mapping[int, int]  # function -> traced place

    @property
    def bytes(self) -> int:
        """Of the machine code that is copied."""
        return sum(function.bytes for function in self.functions.values())


def lay_out(kernel: Kernel, counted: Counted) -> Layout:
    """What is copied of the kernel, by these counts."""
    image, ran = kernel.image, Ran(counted.blocks)
    fewest = ran.fewest(image.symbols.begin, image.symbols.end, SHARE)
    hot = code.select(image, ran, kernel.traced, fewest)
    functions, entered = reachable(kernel, hot, counted)
    return Layout(functions, _order(image, ran, functions, counted.edges), entered)


def reachable(
    kernel: Kernel, functions: Functions, counted: Counted
) -> tuple[Functions, Mapping[int, int]]:
    """The functions to which entries lead, and these entries.

    A loop that never ends, such as that of a worker, is in no entry's reach. What it calls then
    needs entries. So the choice is repeated until it stays.
    """
    reach = entries.reached(kernel.image, functions)
    entered: Mapping[int, int] = {}
    used: Functions = functions
    for _ in range(MOST_ROUNDS):
        calls = entries.calls_from_elsewhere(functions, used, counted.blocks, counted.edges)
        before, entered = entered, entries.choose(reach, functions, kernel.traced, calls)
        reached = set().union(*(reach[address] for address in entered))
        used = {address: functions[address] for address in sorted(reached)}
        if entered == before:
            break
    return used, entered


def _order(image: Image, ran: Ran, functions: Functions, edges: Sequence[Edge]) -> list[int]:
    """Functions that call each other often lie together."""
    names = {address: f"{address:x}" for address in functions}
    weights: Counter[tuple[str, str]] = Counter()
    for edge in edges:
        caller = image.symbols.function_at(edge.address)
        callee = edge.successor
        if caller != callee and caller in names and callee in names:
            weights[names[caller], names[callee]] += sum(edge.counts)
    sizes = {names[address]: function.bytes for address, function in functions.items()}
    heat = {
        names[address]: sum(piece.bytes * ran.times(piece.address) for piece in function.pieces)
        for address, function in functions.items()
    }
    return [int(name, 16) for name in pettis_hansen(Flow(sizes, heat, weights))]
