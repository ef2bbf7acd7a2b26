# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes synthetic inputs for the programs of predict.py. The same seed gives the same inputs."""

import random
from pathlib import Path

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
FAMILY_LENGTH, FAMILY_SIZE, STRANGERS = 150, 20, 4000
RECORDS, RECORD_LENGTH = 60_000, 150
ROWS, STATEMENTS = 60_000, 4000


def write(folder: Path) -> None:
    """Write all inputs to this folder."""
    generator = random.Random(21)
    _reads(folder / "short.fa", generator)
    _genome(folder, generator)
    _family(folder, generator)
    _statements(folder / "rows.sql", generator)


def _bases(generator: random.Random, length: int) -> str:
    return "".join(generator.choices("ACGT", k=length))


def _reads(path: Path, generator: random.Random) -> None:
    with path.open("w") as file:
        for number in range(RECORDS):
            file.write(f">read{number}\n{_bases(generator, RECORD_LENGTH)}\n")


def _genome(folder: Path, generator: random.Random) -> None:
    genome = _bases(generator, 1_500_000)
    (folder / "genome.fa").write_text(f">synthetic\n{genome}\n")
    starts = [generator.randrange(len(genome) - 6000) for _ in range(500)]
    reads = [f">read{start}\n{genome[start : start + 6000]}\n" for start in starts]
    (folder / "reads.fa").write_text("".join(reads))


def _protein(generator: random.Random, length: int) -> str:
    return "".join(generator.choices(AMINO_ACIDS, k=length))


def _relative(ancestor: str, generator: random.Random) -> str:
    """Returns the ancestor with a fifth of its letters replaced."""
    changed = (generator.choice(AMINO_ACIDS) if generator.random() < 0.2 else "" for _ in ancestor)
    return "".join(new or old for new, old in zip(changed, ancestor, strict=True))


def _family(folder: Path, generator: random.Random) -> None:
    """Write the alignment of a family, and a database that contains its members."""
    ancestor = _protein(generator, FAMILY_LENGTH)
    members = [_relative(ancestor, generator) for _ in range(FAMILY_SIZE)]
    rows = [f"member{number} {member}\n" for number, member in enumerate(members)]
    (folder / "family.sto").write_text("# STOCKHOLM 1.0\n" + "".join(rows) + "//\n")
    strangers = [_protein(generator, 300) for _ in range(STRANGERS)]
    everybody = [*members, *strangers]
    generator.shuffle(everybody)
    entries = [f">protein{number}\n{protein}\n" for number, protein in enumerate(everybody)]
    (folder / "proteins.fa").write_text("".join(entries))


def _statements(path: Path, generator: random.Random) -> None:
    """Write one large transaction, then many small transactions, each with its own journal."""
    lines = [
        "PRAGMA synchronous=OFF;",
        "DROP TABLE IF EXISTS t;",
        "CREATE TABLE t(a, b, c);",
        "BEGIN;",
    ]
    for number in range(ROWS):
        lines.append(f"INSERT INTO t VALUES({number}, {generator.random()}, 'row {number}');")
    lines += ["COMMIT;", "CREATE INDEX i ON t(b);"]
    for _ in range(STATEMENTS // 10):
        lines.append(f"UPDATE t SET c = 'x' WHERE b < {generator.random() / 1000};")
    lines.append("SELECT count(*), sum(b) FROM t;")
    path.write_text("\n".join(lines) + "\n")
