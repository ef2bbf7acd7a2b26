# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that try policies: a simulation, and a process with planted effects."""

import json
import os
import subprocess
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DECISIONS = ("cost", "evidence", "numbers", "standing", "trial", "warm_up")
FLAGS = ("-O2", "-g", "-Wall", "-Wextra", "-Werror", "-std=gnu11")

Line = dict[str, Any]


def build(root: Path, source: Path, folder: Path, *inputs: str) -> Path:
    """Compile one of the programs here."""
    target = folder / source.stem
    includes = [f"-I{root / 'kadapt' / part}" for part in ("lib", "uapi")]
    command = ["gcc-12", *FLAGS, *includes, source, "-o", target, *inputs, "-lm"]
    subprocess.run([str(word) for word in command], check=True)
    return target


def simulation(root: Path, folder: Path) -> Path:
    """The simulation, which has the library's own decisions."""
    decisions = [str(root / f"kadapt/lib/decide/{name}.c") for name in DECISIONS]
    return build(root, root / "bench/trials/simulate.c", folder, *decisions)


def linked(root: Path, source: str, folder: Path, *flags: str) -> Path:
    """A program here with the whole library for I/O."""
    archive = str(root / "build/kadapt/libkadapt-io.a")
    return build(root, HERE / source, folder, *flags, "-Wl,-u,kadapt_batch_write", archive)


def sliced(root: Path, folder: Path) -> Path:
    """The program whose quantum is tried by slices."""
    tests = HERE.parent / "selftest"
    own = [f"-I{tests}", str(tests / "device.c"), "-Wl,-u,kadapt_filter_anchor"]
    return linked(root, "sliced.c", folder, *own)


def planted(root: Path, folder: Path, *flags: str) -> Path:
    """The program with a planted effect."""
    return linked(root, "planted.c", folder, *flags)


@dataclass(frozen=True)
class Run:
    """What a run of the planted program did."""

    status: int
    levels: str  # of each visit
    nanoseconds: int
    lines: tuple[Line, ...]  # of its record

    def of(self, kind: str) -> list[Line]:
        """The lines of one kind."""
        return [line[kind] for line in self.lines if kind in line]


def run(program: Path, *words: object, **environment: str) -> Run:
    """Run it, with a record; the sums of the record's lines must be right."""
    record = program.with_name("record.jsonl")
    record.unlink(missing_ok=True)
    done = subprocess.run(
        [str(program), *map(str, words)],
        env=os.environ | {"KADAPT_TRIALS_RECORD": str(record)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    levels, nanoseconds = (done.stdout.split("\n") + ["", ""])[:2]
    lines = record.read_text().splitlines() if record.exists() else []
    return Run(done.returncode, levels, int(nanoseconds or 0), tuple(map(checked, lines)))


def checked(line: str) -> Line:
    """Parse a line; its sum must be that of zlib."""
    before, _, after = line.rpartition(', "sum": ')
    assert after == f'"{zlib.crc32(before.encode()):08x}"}}', line
    parsed = json.loads(line)
    assert isinstance(parsed, dict)
    return parsed
