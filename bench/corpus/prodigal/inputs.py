# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a genome of open reading frames on both strands: inputs.py NAME GENES SEED"""

import random
import sys
from pathlib import Path

COMPLEMENT = str.maketrans("ACGT", "TGCA")
STOPS = ("TAA", "TAG", "TGA")


def main(name: str, genes: str, seed: str) -> None:
    dice = random.Random(int(seed))
    codons = ["".join(dice.choices("ACGT", (2, 3, 3, 2), k=3)) for _ in range(40)]
    codons = [codon for codon in codons if codon not in STOPS]
    pieces = []
    for _ in range(int(genes)):
        gene = "AGGAGG" + "".join(dice.choices("ACGT", k=7)) + "ATG"
        gene += "".join(dice.choices(codons, k=dice.randint(100, 500))) + dice.choice(STOPS)
        pieces.append(gene if dice.random() < 0.5 else gene.translate(COMPLEMENT)[::-1])
        pieces.append("".join(dice.choices("ACGT", k=dice.randint(20, 200))))
    genome = "".join(pieces)
    lines = [genome[start : start + 70] for start in range(0, len(genome), 70)]
    Path(f"{name}.fa").write_text(f">{name}\n" + "\n".join(lines) + "\n", encoding="ascii")


main(*sys.argv[1:])
