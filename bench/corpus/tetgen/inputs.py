# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes points in a cube, in TetGen's format."""

import random
from pathlib import Path


def points(count: int) -> str:
    dice = random.Random(count)
    lines = [f"{count} 3 0 0\n"]
    for number in range(count):
        lines.append(f"{number} {dice.random():.9f} {dice.random():.9f} {dice.random():.9f}\n")
    return "".join(lines)


for name, count in (("long", 60_000), ("small", 6_000), ("other", 7_000)):
    Path(f"{name}.node").write_text(points(count), encoding="ascii")
