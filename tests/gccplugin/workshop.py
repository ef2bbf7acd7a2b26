# SPDX-License-Identifier: GPL-2.0-or-later
"""Compiling with the plugin and looking at what came of it."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from patience import PATIENCE_SECONDS

from kadence.base.resources import built

PROGRAMS = Path(__file__).with_name("programs")
COMPILERS = {".c": "gcc-12", ".h": "gcc-12", ".cc": "g++-12", ".f90": "gfortran-12"}
LONG_NS = 5_000_000_000

Completed = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Recorded:
    """A function as the section .kadence.cfg has it."""

    file: str
    line: int
    checksum: str
    loops: tuple[tuple[int, int], ...]  # line and depth, by index
    entry: int = 0  # blocks, 0 where there is none: the first
    before: tuple[int, ...] = ()  # those that lead into the loops


def parse_records(text: str) -> dict[str, Recorded]:
    """The records of a section; the numbers in it must agree with each other."""
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
        """A source file of the given text, else a copy of the program of this name."""
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
        """Run the compiler that the source's name asks for, with the plugin."""
        plugin = [f"-fplugin={built('gccplugin/kadence.so')}"]
        if plan:
            plugin.append(f"-fplugin-arg-kadence-plan={plan}")
        plugin += [f"-fplugin-arg-kadence-{argument}" for argument in arguments]
        return self.run(COMPILERS[Path(source).suffix], *plugin, source, *options, check=check)

    def run(self, *command: object, check: bool = True, **environment: str) -> Completed:
        """Run a command here, with further variables in its environment."""
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
        """What the section .kadence.cfg of a binary says, by function."""
        content = self.directory / "section.txt"
        content.unlink(missing_ok=True)
        copy = f"--dump-section=.kadence.cfg={content}"
        self.run("objcopy", copy, binary, "/dev/null")
        return parse_records(content.read_text())

    def plan(self, *markers: dict[str, Any], phases: int = 2, **changes: Any) -> Path:
        """A plan with these markers; even phases have a long quantum."""
        body = {
            "schema": "kadence.plan",
            "version": 4,
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
        """An object whose phase call counts, and tells the counts when the program ends."""
        target = self.directory / "count_stub.o"
        if not target.exists():
            self.run("gcc-12", "-O2", "-fPIC", "-c", "-o", target, PROGRAMS / "count_stub.c")
        return target

    def firings(self, binary: str = "./program") -> dict[int, int]:
        """Run a program linked with the counting stub: phase -> how often it was entered."""
        told = self.run(binary).stderr.split()
        return {int(phase): int(count) for phase, _, count in (w.partition("=") for w in told)}


def marker(
    function: str,
    phase: int = 0,
    loop: int | None = None,
    file: str | None = None,
    checksum: str | None = None,
) -> dict[str, Any]:
    """A marker as a plan has it."""
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
