# SPDX-License-Identifier: GPL-2.0-or-later
"""Edges derived from blocks: a function of four blocks, of which all is known."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from bench.layout import edges
from kadence.lab.counts import Block, Counted, Edge

# The first block goes on in the second one, or jumps to the third; both reach the last.
COUNTED = Counted(
    blocks=[
        Block(0x1000, 16, 4, "branches", 0x1020, (10,)),
        Block(0x1010, 16, 4, "jumps", 0x1030, (6,)),
        Block(0x1020, 16, 4, "falls", 0, (4,)),
        Block(0x1030, 16, 4, "returns", 0, (10,)),
    ],
    edges=[
        Edge(0x1000, 16, 0x1010, (6,)),
        Edge(0x1000, 16, 0x1020, (4,)),
        Edge(0x1010, 16, 0x1030, (6,)),
        Edge(0x1020, 16, 0x1030, (4,)),
        Edge(0x1030, 16, 0x2000, (10,)),  # returns
    ],
)
STARTS = [0x1000, 0x1040, 0x3000]


@pytest.fixture(autouse=True)
def solver(root: Path) -> None:
    subprocess.run(["make", "-s", "build/bench/derive"], cwd=root, check=True)


def test_all_edges_of_a_branch_follow_from_its_blocks() -> None:
    [function] = edges.functions(COUNTED, STARTS)
    blocks, found = function.graph()
    assert blocks == {0x1000: 10, 0x1010: 6, 0x1020: 4, 0x1030: 10}
    assert (0x1030, 0) in found and (0, 0x1000) in found
    assert edges.derived(function) == (4, 4)


def test_an_edge_that_ran_otherwise_is_not_exact() -> None:
    """Such as one that an interrupt hid."""
    lost = [replace(edge, counts=(3,)) if edge.counts == (4,) else edge for edge in COUNTED.edges]
    [function] = edges.functions(replace(COUNTED, edges=lost), STARTS)
    assert edges.derived(function) == (4, 2)
