# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes random clauses of three literals, too many for any assignment to satisfy all of them."""

import random
from pathlib import Path


def clauses(variables: int, seed: int) -> str:
    dice = random.Random(seed)
    count = variables * 5
    lines = [f"p cnf {variables} {count}\n"]
    for _ in range(count):
        chosen = dice.sample(range(1, variables + 1), 3)
        lines.append(" ".join(str(dice.choice((-1, 1)) * each) for each in chosen) + " 0\n")
    return "".join(lines)


for name, variables, seed in (("long", 290, 1), ("small", 180, 2), ("other", 185, 3)):
    Path(f"{name}.cnf").write_text(clauses(variables, seed), encoding="ascii")
