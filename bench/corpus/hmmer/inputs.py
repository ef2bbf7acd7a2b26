# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints proteins, a quarter of them of a HMMER3 model's family: inputs.py MODEL COUNT SEED"""

import random
import sys
from pathlib import Path


def main(model: str, count: str, seed: str) -> None:
    lines = [line.split() for line in Path(model).read_text(encoding="utf-8").splitlines()]
    start = next(number for number, words in enumerate(lines) if words[:1] == ["HMM"])
    letters = lines[start][1:21]
    # A node's first line: its number, then the negative logarithm of each letter's probability.
    nodes = [[float(word) for word in words[1:21]] for words in lines[start:] if len(words) == 26]
    best = [letters[costs.index(min(costs))] for costs in nodes]
    dice = random.Random(int(seed))
    for number in range(int(count)):
        chosen = dice.choices(letters, k=dice.randint(200, 500))
        if number % 4 == 0:
            chosen[50:50] = [dice.choice(letters) if dice.random() < 0.4 else x for x in best]
        print(f">p{number:05}\n{''.join(chosen)}")


main(*sys.argv[1:])
