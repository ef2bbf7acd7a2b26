# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes reads aligned at random places of three chromosomes, in SAM format."""

import random
from pathlib import Path

LENGTH = 1_000_000
READ = 100


def alignments(count: int, seed: int) -> str:
    dice = random.Random(seed)
    lines = [f"@SQ\tSN:c{number}\tLN:{LENGTH}\n" for number in range(3)]
    genome = "".join(dice.choices("ACGT", k=20_000))
    for number in range(count):
        start, place = dice.randrange(len(genome) - READ), dice.randrange(1, LENGTH - READ)
        quality = "".join(dice.choices("FFFF:,#", k=8)) * (READ // 8) + "F" * (READ % 8)
        lines.append(
            f"r{number}\t{16 * dice.randrange(2)}\tc{dice.randrange(3)}\t{place}\t60\t{READ}M"
            f"\t*\t0\t0\t{genome[start : start + READ]}\t{quality}\n"
        )
    return "".join(lines)


for name, count in (("long", 150_000), ("small", 20_000), ("other", 24_000)):
    Path(f"{name}.sam").write_text(alignments(count, count), encoding="ascii")
