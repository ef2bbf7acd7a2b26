# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes SQL: insertions in transactions of 500 rows, then queries, updates and deletions."""

import random
from collections.abc import Iterator
from pathlib import Path

QUESTIONS = """
SELECT kind, count(*), sum(amount) FROM sale GROUP BY kind ORDER BY kind;
SELECT a.name, b.name FROM sale a JOIN sale b ON a.id = b.other WHERE a.amount > 990 ORDER BY 1, 2;
UPDATE sale SET amount = amount + 1 WHERE kind = 3;
DELETE FROM sale WHERE amount % 7 = 0;
VACUUM;
SELECT count(*), sum(amount) FROM sale;
"""


def statements(rows: int, seed: int) -> Iterator[str]:
    dice = random.Random(seed)
    yield "DROP TABLE IF EXISTS sale;\n"
    yield "CREATE TABLE sale (id INTEGER PRIMARY KEY, other INT, kind INT, amount INT, name);\n"
    yield "CREATE INDEX by_name ON sale (name);\n"
    for number in range(rows):
        if number % 500 == 0:
            yield "COMMIT;\nBEGIN;\n" if number else "BEGIN;\n"
        name = "".join(dice.choices("abcdefghij", k=12))
        other, kind, amount = dice.randrange(rows), dice.randrange(9), dice.randrange(1000)
        yield f"INSERT INTO sale VALUES ({number}, {other}, {kind}, {amount}, '{name}');\n"
    yield "COMMIT;\n"
    yield QUESTIONS


for place, rows, seed in (("long", 60_000, 1), ("small", 8_000, 2), ("other", 9_000, 3)):
    Path(f"{place}.sql").write_text("".join(statements(rows, seed)), encoding="ascii")
