# SPDX-License-Identifier: GPL-2.0-or-later
"""Chooses the functions whose callers are sent to the copies.

Copies call each other directly. All other callers, those by pointers too, come through the
function's traced place and a stub, which costs them two instructions, a line of the stub and one
mispredicted return.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from kadence.kadapt.live.symbols import LANDING_PAD_BYTES
from kadence.lab.counts import Block, Edge
from kadence.positioned.code import Functions, goes_to
from kadence.positioned.image import Image

LINE_BYTES = 64
# An entry that leads to fewer lines of the originals saves less than it costs.
FEWEST_LINES = 3
LEAST = 1 / 1000  # of what the best entry leads to, in lines times calls
MOST = 40  # the kernel waits for all tasks when it removes one, a fraction of a second


def choose(
    reach: Mapping[int, Iterable[int]],
    functions: Functions,
    traced: frozenset[int],
    calls: Mapping[int, int],
) -> dict[int, int]:
    """Address of an entry's function -> its traced place. `reach` is of all functions."""
    found: dict[int, tuple[int, int]] = {}  # what it leads to, and its place
    for address, function in functions.items():
        place = _traced_place(address, traced)
        if place is None or function.head is None:
            continue
        pieces = [piece for each in reach[address] for piece in functions[each].pieces]
        lines = len({piece.address // LINE_BYTES for piece in pieces})
        if lines >= FEWEST_LINES:
            found[address] = lines * calls[address], place
    enough = LEAST * max((weight for weight, _ in found.values()), default=0)
    worth = [address for address, (weight, _) in found.items() if weight >= enough]
    best = sorted(worth, key=lambda address: found[address], reverse=True)[:MOST]
    return {address: found[address][1] for address in sorted(best)}


def _traced_place(function: int, traced: frozenset[int]) -> int | None:
    places = (function, function + LANDING_PAD_BYTES)
    return next((each for each in places if each in traced), None)


def reached(image: Image, functions: Functions) -> dict[int, set[int]]:
    """Function -> the functions to which its copy leads through other copies; itself, too."""
    ways = {
        address: {each for each in goes_to(image, function) if each in functions}
        for address, function in functions.items()
    }
    return {address: _closure(address, ways) for address in functions}


def _closure(address: int, ways: Mapping[int, Iterable[int]]) -> set[int]:
    found, waiting = {address}, [address]
    while waiting:
        new = set(ways[waiting.pop()]) - found
        found |= new
        waiting.extend(new)
    return found


def calls_from_elsewhere(
    functions: Functions, copied: Functions, blocks: Iterable[Block], edges: Iterable[Edge]
) -> dict[int, int]:
    """Function -> how often it began other than by a direct jump or call of what is copied."""
    ends = {piece.address + piece.bytes for each in copied.values() for piece in each.pieces}
    direct = {(block.address, block.bytes): block.target for block in blocks}
    calls: dict[int, int] = defaultdict(int)
    for edge in edges:
        if edge.successor in functions:
            target = direct.get((edge.address, edge.bytes))
            # A block may begin in front of the code that is copied, but they end together.
            if edge.address + edge.bytes not in ends or target != edge.successor:
                calls[edge.successor] += sum(edge.counts)
    return calls
