# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes assignment problems of workers to tasks, in GNU MathProg."""

import random
from pathlib import Path

MODEL = """set W := 1..{size};
set T := 1..{size};
param cost{{W, T}};
var x{{W, T}} >= 0;
minimize total: sum{{w in W, t in T}} cost[w, t] * x[w, t];
s.t. each{{w in W}}: sum{{t in T}} x[w, t] = 1;
s.t. done{{t in T}}: sum{{w in W}} x[w, t] = 1;
data;
param cost : {columns} :=
{rows};
end;
"""


def model(size: int) -> str:
    dice = random.Random(size)
    numbers = range(1, size + 1)
    rows = (" ".join(str(dice.randrange(1000)) for _ in numbers) for _ in numbers)
    lines = "\n".join(f"{number} {row}" for number, row in zip(numbers, rows, strict=True))
    return MODEL.format(size=size, columns=" ".join(map(str, numbers)), rows=lines)


for name, size in (("long", 230), ("small", 45), ("other", 50)):
    Path(f"{name}.mod").write_text(model(size), encoding="ascii")
