# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes grids with edges between neighbours, some of them omitted, in METIS's format."""

import random
from pathlib import Path


def grid(width: int, height: int, seed: int) -> str:
    dice = random.Random(seed)
    neighbours: list[list[int]] = [[] for _ in range(width * height)]
    for vertex in range(width * height):
        right, below = vertex + 1, vertex + width
        for other in (right if right % width else -1, below, below + 1 if right % width else -1):
            if 0 <= other < width * height and dice.random() < 0.95:
                neighbours[vertex].append(other + 1)
                neighbours[other].append(vertex + 1)
    edges = sum(map(len, neighbours)) // 2
    lines = (" ".join(map(str, each)) for each in neighbours)
    return f"{len(neighbours)} {edges}\n" + "\n".join(lines) + "\n"


for name, width, height in (("long", 600, 500), ("small", 150, 150), ("other", 130, 170)):
    Path(f"{name}.graph").write_text(grid(width, height, width), encoding="ascii")
