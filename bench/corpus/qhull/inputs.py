# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes points near the surface of a sphere in five dimensions."""

import random
from pathlib import Path

DIMENSIONS = 5


def points(count: int) -> str:
    dice = random.Random(count)
    lines = [f"{DIMENSIONS}\n{count}\n"]
    for _ in range(count):
        place = [dice.gauss(0, 1) for _ in range(DIMENSIONS)]
        length = sum(each * each for each in place) ** 0.5 * dice.uniform(1, 1.1)
        lines.append(" ".join(f"{each / length:.9f}" for each in place) + "\n")
    return "".join(lines)


for name, count in (("long", 1500), ("small", 300), ("other", 360)):
    Path(f"{name}.points").write_text(points(count), encoding="ascii")
