# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes sorted intervals on four chromosomes, in BED format."""

import random
from pathlib import Path


def intervals(count: int, seed: int) -> str:
    dice = random.Random(seed)
    places = sorted((dice.randrange(4), dice.randrange(50_000_000)) for _ in range(count))
    return "".join(
        f"chr{chromosome}\t{start}\t{start + dice.randint(50, 900)}\ti{number}\t{number % 1000}\n"
        for number, (chromosome, start) in enumerate(places)
    )


for name, count in (("long", 250_000), ("small", 25_000), ("other", 30_000)):
    for letter, share in (("a", 1), ("b", 2)):
        path = Path(f"{name}-{letter}.bed")
        path.write_text(intervals(count // share, count + share), encoding="ascii")
