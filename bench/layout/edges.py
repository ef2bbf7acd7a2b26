# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts of edges derived from counts of blocks, beside the edges that ran, in Debian's kernel.

    python -m bench.layout.edges

Tamches and Miller (2001), section 5, derived 99.6 % of the edges and all edges of 97.8 % of the
functions of Solaris' kernel. Here the graphs have the code that ran, and the ways out of it that
did not.
"""

import subprocess
import tempfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kadence.base import resources
from kadence.boot import debian
from kadence.lab import calls, counts, session
from kadence.lab.counts import Block, Counted, Edge
from kadence.lab.guest import STOCK_SERIES, stock
from kadence.live.kernel import kallsyms_of

DERIVE = "bench/derive"
COMMAND = ("./ring", "4", "5", "200", "100000")
GOES_ON = frozenset({"falls", "calls", "calls-by", "repeats", "branches"})  # may reach the next
HAS_TARGET = frozenset({"branches", "jumps"})


@dataclass
class Function:
    """The graph of a function: blocks by address, and edges between them. Node 0 is outside."""

    start: int
    end: int
    blocks: list[Block] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    returned: Counter[int] = field(default_factory=Counter)  # behind calls, by address

    def holds(self, address: int) -> bool:
        return self.start <= address < self.end

    def graph(self) -> tuple[dict[int, int], list[tuple[int, int]]]:
        """Counts by address, and edges by address; those out of the function go to 0."""
        cuts = self._cuts()
        executed = _executed(self.blocks, cuts)
        edges = {(0, self.start)}
        ends = {one.address + one.bytes: one for one in self.blocks}
        ordered = sorted(cuts)
        for position, address in enumerate(ordered):
            if not executed[address]:
                edges.add((address, 0))  # ran never: where it goes does not matter
                continue
            after = ordered[position + 1] if position + 1 < len(ordered) else self.end
            edges |= {(address, to) for to in self._successors(ends.get(after), after)}
        return {address: executed[address] for address in cuts}, sorted(edges)

    def _cuts(self) -> set[int]:
        found = {self.start}
        for one in self.blocks:
            after = one.address + one.bytes
            found |= {one.address, *({after} if self.holds(after) else ())}
            found |= {to for to in self._successors(one, after) if to}
        return found

    def _successors(self, block: Block | None, after: int) -> set[int]:
        if block is None:
            return {after if self.holds(after) else 0}
        found = {after} if block.ending in GOES_ON else set()
        found |= {block.target} if block.ending in HAS_TARGET else set()
        return {to if self.holds(to) else 0 for to in found} or {0}


def _executed(blocks: Iterable[Block], cuts: set[int]) -> Counter[int]:
    """How often the code behind each cut ran."""
    ordered = sorted(cuts)
    found: Counter[int] = Counter()
    for one in blocks:
        at = bisect_right(ordered, one.address) - 1
        while at < len(ordered) and ordered[at] < one.address + one.bytes:
            found[ordered[at]] += sum(one.counts)
            at += 1
    return found


def functions(found: Counted, starts: Sequence[int]) -> list[Function]:
    """Functions that ran, each with its blocks, and the edges out of them."""
    known: dict[int, Function] = {}

    def at(address: int) -> Function | None:
        place = bisect_right(starts, address) - 1
        if not 0 <= place < len(starts) - 1:
            return None
        new = Function(starts[place], starts[place + 1])
        return known.setdefault(starts[place], new)

    for one in found.blocks:
        if any(one.counts) and (function := at(one.address)) is not None:
            function.blocks.append(one)
    for edge in found.edges:
        if (function := at(edge.successor)) is None:
            continue
        if function.holds(edge.address):
            function.edges.append(edge)
        elif edge.successor != function.start:
            function.returned[edge.successor] += sum(edge.counts)
    return [function for function in known.values() if function.blocks]


def truth(function: Function, cuts: Sequence[int]) -> Counter[tuple[int, int]]:
    """How often each edge ran, by the block that it leaves and the address that it reaches."""

    def block_of(address: int) -> int:
        return cuts[bisect_right(cuts, address) - 1]

    ran: Counter[tuple[int, int]] = Counter()
    for one in function.blocks:
        for cut in cuts:
            if one.address < cut < one.address + one.bytes:
                ran[block_of(cut - 1), cut] += sum(one.counts)
    for edge in function.edges:
        ran[block_of(edge.address + edge.bytes - 1), edge.successor] += sum(edge.counts)
    for address, count in function.returned.items():
        ran[block_of(address - 1), address] += count
    return ran


def derived(function: Function) -> tuple[int, int]:
    """Edges between blocks of the function, and those whose derived count is the true one."""
    blocks, edges = function.graph()
    numbers = {address: number for number, address in enumerate(sorted(blocks), start=1)}
    numbers[0] = 0
    words = [f"{len(blocks) + 1} {len(edges)} -"]
    words += [str(blocks[address]) for address in sorted(blocks)]
    words += [f"{numbers[source]} {numbers[target]}" for source, target in edges]
    told = subprocess.run(
        [resources.built(DERIVE)], input=" ".join(words), capture_output=True, text=True, check=True
    )
    ran = truth(function, sorted(blocks))
    leaving, entering = Counter(one for one, _ in edges), Counter(other for _, other in edges)
    inner = [
        (int(count), ran[edge])
        for edge, count in zip(edges, told.stdout.split(), strict=True)
        # Without choice on either side, both are one block to the paper.
        if 0 not in edge and (leaving[edge[0]] > 1 or entering[edge[1]] > 1)
    ]
    return len(inner), sum(count == true for count, true in inner)


def counted() -> Counted:
    """The counts of Debian's kernel while the ring runs."""
    with tempfile.TemporaryDirectory(prefix="kadence-edges-") as name:
        options = counts.options(Path(name))
        ring = resources.home() / "build/examples/ring"
        reading = session.run(stock(), COMMAND, directory=ring, emulator_options=options)
        assert reading.result.status == 0
        return counts.read(Path(name))


def main() -> None:
    """Print both shares."""
    lines = kallsyms_of(debian.newest_release(STOCK_SERIES))
    starts = sorted({address for address, _ in calls.functions(lines)})
    results = [derived(function) for function in functions(counted(), starts)]
    edges, exact = (sum(column) for column in zip(*results, strict=True))
    whole = sum(some == right for some, right in results)
    print(f"edges      {edges:7,}  exact {exact:7,}  {100 * exact / edges:.1f} % (paper 99.6 %)")
    print(
        f"functions  {len(results):7,}  exact {whole:7,}  {100 * whole / len(results):.1f} % "
        "(paper 97.8 %)"
    )


if __name__ == "__main__":
    main()
