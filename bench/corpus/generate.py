#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints inputs for several programs of the corpus.

    generate.py text MEGABYTES SEED       words by Zipf's law, in lines
    generate.py family COUNT LENGTH SEED  proteins of one ancestor, FASTA
    generate.py genes COUNT LENGTH SEED   aligned genes of one ancestor, FASTA
    generate.py reads COUNT LENGTH SEED   pieces of a random genome, FASTQ
    generate.py sound SECONDS SEED        two channels of tones and noise, WAV

The same arguments give the same input.
"""

import array
import math
import random
import sys
import wave
from collections.abc import Callable, Iterator
from pathlib import Path

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
BASES = "ACGT"
GENOME_LENGTH = 200_000
RATE = 44_100  # samples per second
VOCABULARY = 20_000
LINE_WORDS = 12


def text(megabytes: int, seed: int) -> Iterator[str]:
    dice = random.Random(seed)
    words = ["".join(dice.choices("etaoinshrdlu", k=dice.randint(2, 9))) for _ in range(VOCABULARY)]
    weights = [1 / rank for rank in range(1, VOCABULARY + 1)]
    left = megabytes * 1_000_000
    while left > 0:
        chosen = dice.choices(words, weights, k=LINE_WORDS * 1000)
        for start in range(0, len(chosen), LINE_WORDS):
            line = " ".join(chosen[start : start + LINE_WORDS]) + "\n"
            left -= len(line)
            yield line


def family(count: int, length: int, seed: int) -> Iterator[str]:
    """Each sequence descends from an earlier one: letters change, are inserted, or are deleted."""
    dice = random.Random(seed)
    known = ["".join(dice.choices(AMINO_ACIDS, k=length))]
    for number in range(count):
        known.append("".join(_descend(dice, dice.choice(known))))
        yield f">s{number:05}\n{known[-1]}\n"


def _descend(dice: random.Random, parent: str) -> Iterator[str]:
    for letter in parent:
        chance = dice.random()
        if chance < 0.06:
            yield dice.choice(AMINO_ACIDS)
        elif chance < 0.07:
            yield letter + dice.choice(AMINO_ACIDS)
        elif chance > 0.08:
            yield letter


def genes(count: int, length: int, seed: int) -> Iterator[str]:
    """Letters change, but none is inserted or deleted, so the sequences are aligned."""
    dice = random.Random(seed)
    known = [dice.choices(BASES, k=length)]
    for number in range(count):
        parent = dice.choice(known)
        known.append([dice.choice(BASES) if dice.random() < 0.05 else each for each in parent])
        yield f">s{number:05}\n{''.join(known[-1])}\n"


def reads(count: int, length: int, seed: int) -> Iterator[str]:
    dice = random.Random(seed)
    genome = "".join(dice.choices(BASES, k=GENOME_LENGTH))
    qualities = ["".join(dice.choices("#.5>EJ", [1, 1, 2, 4, 8, 16], k=length)) for _ in range(97)]
    for number in range(count):
        start = dice.randrange(GENOME_LENGTH - length)
        yield f"@r{number}\n{genome[start : start + length]}\n+\n{qualities[number % 97]}\n"


def sound(seconds: int, seed: int) -> bytes:
    dice = random.Random(seed)
    samples = array.array("h")
    for second in range(seconds):
        pitch = dice.uniform(100, 4000)
        for number in range(RATE):
            phase = 2 * math.pi * pitch * (number + second * RATE) / RATE
            tone = 9000 * math.sin(phase) + 3000 * math.sin(3.01 * phase)
            samples.append(int(tone + dice.uniform(-1500, 1500)))
            samples.append(int(tone / 2 + dice.uniform(-1500, 1500)))
    return samples.tobytes()


def write_sound(seconds: int, seed: int) -> None:
    with wave.open(sys.stdout.buffer, "wb") as output:
        output.setnchannels(2)
        output.setsampwidth(2)
        output.setframerate(RATE)
        output.setnframes(seconds * RATE)
        output.writeframesraw(sound(seconds, seed))


TEXTS: dict[str, Callable[..., Iterator[str]]] = {
    function.__name__: function for function in (text, family, genes, reads)
}


def main(arguments: list[str]) -> int:
    kind, *numbers = arguments or [""]
    try:
        values = [int(number) for number in numbers]
        if kind == "sound":
            write_sound(*values)
        else:
            sys.stdout.writelines(TEXTS[kind](*values))
    except (KeyError, TypeError, ValueError):
        print(f"usage: {Path(__file__).name} and one of:\n{__doc__}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
