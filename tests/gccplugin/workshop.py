# SPDX-License-Identifier: GPL-2.0-or-later
"""Helpers that compile with the plugin and inspect the result."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compilers import GCC, GFORTRAN, GXX, PLUGIN
from patience import PATIENCE_SECONDS

PROGRAMS = Path(__file__).with_name("programs")
COMPILERS = {".c": GCC, ".h": GCC, ".cc": GXX, ".f90": GFORTRAN}
LONG_NS = 5_000_000_000

Completed = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Recorded:
    """A function, as recorded in the section .kadence.cfg."""

    file: str
    line: int
    checksum: str
    loops: tuple[tuple[int, int], ...]  # line and depth, by index
    entry: int = 0  # index of the block that only calls lead to; 0: there is none
    before: tuple[int, ...] = ()  # per loop: index of the block that leads into it


def parse_records(text: str) -> dict[str, Recorded]:
    """Parse the records of a section; asserts that its counts and indices are consistent."""
    lines = [line.split("\t") for line in text.replace("\0", "").splitlines()]
    functions = {}
    while lines:
        kind, name, file, line, checksum, entry, count = lines.pop(0)
        assert kind == "F"
        assert len(checksum) == 8
        loops, before = [], []
        for index in range(int(count)):
            kind, number, header, depth, block, _first, _latches = lines.pop(0)
            assert (kind, number) == ("L", str(index))
            loops.append((int(header), int(depth)))
            before.append(int(block))
        functions[name] = Recorded(
            file, int(line), checksum, tuple(loops), int(entry), tuple(before)
        )
    return functions


class Workshop:
    """A directory to compile in, with the plugin and a phase call that counts."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def source(self, name: str, text: str | None = None) -> Path:
        """Write a source file with the given text; without text, copy the program of this name."""
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((PROGRAMS / name).read_text() if text is None else text)
        return path

    def compile(
        self,
        source: Path | str,
        *options: str,
        plan: Path | None = None,
        arguments: Sequence[str] = (),
        check: bool = True,
    ) -> Completed:
        """Compile with the plugin; the suffix of `source` selects the compiler."""
        plugin = [f"-fplugin={PLUGIN}"]
        if plan:
            plugin.append(f"-fplugin-arg-kadence-plan={plan}")
        plugin += [f"-fplugin-arg-kadence-{argument}" for argument in arguments]
        return self.run(COMPILERS[Path(source).suffix], *plugin, source, *options, check=check)

    def run(self, *command: object, check: bool = True, **environment: str) -> Completed:
        """Run a command in this directory, with additional environment variables."""
        completed = subprocess.run(
            [str(word) for word in command],
            cwd=self.directory,
            env=os.environ | {"LC_ALL": "C"} | environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert not check or completed.returncode == 0, completed
        return completed

    def records(self, binary: str | Path) -> dict[str, Recorded]:
        """Function -> its record in the section .kadence.cfg of a binary."""
        content = self.directory / "section.txt"
        content.unlink(missing_ok=True)
        copy = f"--dump-section=.kadence.cfg={content}"
        self.run("objcopy", copy, binary, "/dev/null")
        return parse_records(content.read_text())

    def plan(self, *markers: dict[str, Any], phases: int = 2, **changes: Any) -> Path:
        """Write a plan with these markers; phases with even numbers have a long quantum."""
        body = {
            "schema": "kadence.plan",
            "version": 6,
            "policies": [
                {"phase": phase, "name": "compute", "quantum_ns": (phase + 1) % 2 * LONG_NS}
                for phase in range(phases)
            ],
            "markers": list(markers),
        }
        path = self.directory / "plan.json"
        path.write_text(json.dumps(body | changes))
        return path

    def counting_stub(self) -> Path:
        """Compile the phase call that counts, and prints the counts when the program ends."""
        target = self.directory / "count_stub.o"
        if not target.exists():
            self.run(GCC, "-O2", "-fPIC", "-c", "-o", target, PROGRAMS / "count_stub.c")
        return target

    def firings(self, binary: str = "./program") -> dict[int, int]:
        """Run a program linked with the counting stub; returns phase -> its number of entries."""
        told = self.run(binary).stderr.split()
        return {int(phase): int(count) for phase, _, count in (w.partition("=") for w in told)}


def marker(
    function: str,
    phase: int = 0,
    loop: int | None = None,
    file: str | None = None,
    checksum: str | None = None,
) -> dict[str, Any]:
    """A marker in the form in which a plan contains it."""
    return {
        "id": 0,
        "phase": phase,
        "kind": "function_entry" if loop is None else "loop_preheader",
        "function": function,
        "file": file,
        "line": 1,
        "loop": loop,
        "cfg_checksum": checksum,
        "verified": checksum is not None,
    }
