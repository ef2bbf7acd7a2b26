#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A synthetic genome and long reads from it: the same files for the same arguments.

The name of a read, `read<number>_<start>_<end>_<strand>`, says where in the genome it was taken,
so that a check can judge its alignment. The program writes three sets: the full set, a set of a
tenth of its size for profiling, and a third of other proportions for judging that profile.
"""

import argparse
import random
from pathlib import Path

COMPLEMENT = str.maketrans("ACGT", "TGCA")
SHORTEST, LONGEST = 1_000, 9_000
ERROR_RATE = 0.1


def genome(generator: random.Random, length: int) -> str:
    """Independent, uniformly distributed bases."""
    return "".join(generator.choices("ACGT", k=length))


def with_errors(generator: random.Random, sequence: str) -> str:
    """Substitutions, insertions and deletions, in equal shares of the error rate."""
    bases: list[str] = []
    for base in sequence:
        chance = generator.random() / ERROR_RATE
        if chance >= 1:
            bases.append(base)
        elif chance < 1 / 3:
            bases.append(generator.choice("ACGT"))
        elif chance < 2 / 3:
            bases.append(base + generator.choice("ACGT"))
    return "".join(bases)


def read(generator: random.Random, sequence: str, number: int) -> str:
    """One FASTA record from a random place and strand of the sequence."""
    length = min(generator.randint(SHORTEST, LONGEST), len(sequence))
    start = generator.randint(0, len(sequence) - length)
    piece = sequence[start : start + length]
    strand = generator.choice("+-")
    if strand == "-":
        piece = piece.translate(COMPLEMENT)[::-1]
    name = f"read{number}_{start}_{start + length}_{strand}"
    return f">{name}\n{with_errors(generator, piece)}\n"


def write_set(suffix: str, seed: int, genome_length: int, reads: int) -> None:
    """Write genome<suffix>.fa and reads<suffix>.fa into the current directory."""
    generator = random.Random(seed)
    sequence = genome(generator, genome_length)
    Path(f"genome{suffix}.fa").write_text(f">synthetic\n{sequence}\n")
    with Path(f"reads{suffix}.fa").open("w") as output:
        output.writelines(read(generator, sequence, number) for number in range(reads))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--genome", type=int, required=True, help="bases in the genome")
    parser.add_argument("--reads", type=int, required=True, help="number of reads")
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args()
    write_set("", options.seed, options.genome, options.reads)
    write_set("-small", options.seed, options.genome // 10, options.reads // 10)
    write_set("-other", options.seed + 1, options.genome // 16, options.reads // 8)


if __name__ == "__main__":
    main()
