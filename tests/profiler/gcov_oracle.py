# SPDX-License-Identifier: GPL-2.0-or-later
"""How often gcov says each basic block was entered, solved anew from gcov's notes and counts."""

import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

ENTRY, EXIT = 0, 1
FUNCTION = re.compile(r"FUNCTION ident=(\d+),.*?cfg_checksum=0x\w+(?:, `(.*)' .*)?$")
ARCS = re.compile(r"block (\d+): (.*)$")
ARC = re.compile(r"(\d+):\d+(?:\(([a-z,]*)\))?")
COUNTS = re.compile(r":\s+(\d+): ((?:\d+ ?)+)$")


@dataclass
class _Graph:
    name: str
    arcs: list[tuple[int, int]] = field(default_factory=list)
    counts: list[int | None] = field(default_factory=list)


def _dump(path: Path) -> list[str]:
    shown = subprocess.run(["gcov-dump-12", "-l", path], capture_output=True, text=True, check=True)
    return shown.stdout.splitlines()


def _graphs(notes: Path) -> dict[str, _Graph]:
    graphs: dict[str, _Graph] = {}
    graph = _Graph("")
    for line in _dump(notes):
        if found := FUNCTION.search(line):
            graph = graphs[found[1]] = _Graph(found[2])
        elif "`" not in line and (found := ARCS.search(line)):
            for target, flags in ARC.findall(found[2]):
                graph.arcs.append((int(found[1]), int(target)))
                graph.counts.append(None if "tree" in flags.split(",") else -1)
    return graphs


def _fill(graphs: dict[str, _Graph], counts: Path) -> None:
    values: dict[str, list[int]] = defaultdict(list)
    function = ""
    for line in _dump(counts):
        if found := FUNCTION.search(line):
            function = found[1]
        elif found := COUNTS.search(line):
            values[function] += [int(value) for value in found[2].split()]
    for ident, graph in graphs.items():
        given = iter(values[ident])
        graph.counts = [None if known is None else next(given, 0) for known in graph.counts]


def _solved(graph: _Graph) -> dict[int, int]:
    """A block is left as often as it is entered, so a single unknown arc of a block follows."""
    arcs = [*graph.arcs, (EXIT, ENTRY)]
    counts = [*graph.counts, None]
    blocks = {block for arc in arcs for block in arc}
    progress = True
    while progress:
        progress = False
        for block in blocks:
            into = [at for at, (_, target) in enumerate(arcs) if target == block]
            out = [at for at, (source, _) in enumerate(arcs) if source == block]
            unknown = [at for at in {*into, *out} if counts[at] is None]
            if len(unknown) == 1 and not (set(into) & set(out)) & set(unknown):
                balance = sum(counts[at] or 0 for at in into) - sum(counts[at] or 0 for at in out)
                counts[unknown[0]] = balance if unknown[0] in out else -balance
                progress = True
    assert None not in counts
    entered: dict[int, int] = defaultdict(int)
    for (_, target), count in zip(arcs, counts, strict=True):
        entered[target] += count or 0
    return entered


def block_counts(notes: Path, counts: Path) -> dict[str, dict[int, int]]:
    """How often each block was entered, by the function's name and the block's number."""
    graphs = _graphs(notes)
    _fill(graphs, counts)
    return {graph.name: _solved(graph) for graph in graphs.values()}
