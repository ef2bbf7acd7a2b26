# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the programs in `memory/`, plain and with a plan whose sites are all allocations, and runs
them."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from patience import PATIENCE_SECONDS

from kadence.base.resources import built

PROGRAMS = Path(__file__).with_name("memory")
WRAPPERS = {".c": "kadence-cc", ".cc": "kadence-c++", ".f90": "kadence-fc"}
TREATMENTS = ("populate", "keep", "huge", "map-ahead")

Completed = subprocess.CompletedProcess[str]


def memory_plan(
    files: Sequence[str],
    treatments: Sequence[str] = TREATMENTS,
    ahead: Sequence[str] = (),
    keep_bytes: int = 1 << 40,
    fresh_least_bytes: int = 131072,
) -> dict[str, Any]:
    """A plan in which every allocation of these files is a site."""
    sites = [
        {
            "phase": 0,
            "function": None,
            "file": file,
            "line": None,
            "cfg_checksum": None,
            "calls": [],
            "treatments": list(treatments),
            "evidence": {},
        }
        for file in files
    ]
    memory = {
        "mode": "default",
        "reason": None,
        "ahead": list(ahead),
        "keep_bytes": keep_bytes,
        "fresh_least_bytes": fresh_least_bytes,
        "sites": sites,
    }
    policies = [{"phase": 0, "name": "compute", "quantum_ns": 0}]
    envelope = {"schema": "kadence.plan", "version": 6}
    return envelope | {"policies": policies, "markers": [], "memory": memory}


@dataclass(frozen=True)
class Pair:
    """A program, built twice from the same sources with the same options."""

    plain: Path
    adapted: Path


@dataclass(frozen=True)
class Outcome:
    """A run's status, output and error output, and its arena's counters ({}: no arena)."""

    status: int
    output: str
    complaints: str
    memory: dict[str, int]


class Programs:
    """Builds pairs in a folder and runs them there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.remember("populate,huge")

    @property
    def cache(self) -> dict[str, str]:
        """The variable that names the folder of the remembered measurement of memory."""
        return {"KADENCE_CACHE": str(self.folder / "cache")}

    def remember(self, pays: str) -> Path:
        """Remember that these treatments pay on this machine's own kernel. Returns the file."""
        command = [built("kadapt/measure-memory"), f"--assume={pays}"]
        subprocess.run(command, env=os.environ | self.cache, check=True, capture_output=True)
        (path,) = (self.folder / "cache" / "memory").iterdir()
        return path

    def build(self, *names: str, options: Sequence[object] = (), **plan: Any) -> Pair:
        """Build a program from these sources of `memory/`. By default the first has the sites."""
        first = PROGRAMS / names[0]
        path = self.folder / f"{first.stem}.plan.json"
        files = plan.pop("files", (first.name,))
        path.write_text(json.dumps(memory_plan(files, **plan)))
        pair = Pair(self.folder / f"{first.stem}-plain", self.folder / f"{first.stem}-adapted")
        for target, mode in (pair.plain, "plain"), (pair.adapted, "adapt"):
            self.compile(target, [PROGRAMS / name for name in names], options, mode, path)
        return pair

    def compile(
        self,
        target: Path,
        sources: Sequence[Path],
        options: Sequence[object],
        mode: str,
        plan: Path,
    ) -> None:
        """Compile and link in one of the wrapper's modes."""
        wrapper = built(f"bin/{WRAPPERS[sources[0].suffix]}")
        words = [wrapper, "-O2", "-pthread", *sources, "-o", target, *options]
        settings = {"KADENCE_MODE": mode, "KADENCE_PLAN": str(plan)}
        subprocess.run([str(word) for word in words], env=os.environ | settings, check=True)

    def run(
        self, program: Path, *arguments: object, before: Sequence[object] = (), **environment: str
    ) -> Outcome:
        """Run a program, under the command `before` if there is one."""
        counters = self.folder / "counters"
        counters.unlink(missing_ok=True)
        completed = subprocess.run(
            [str(word) for word in (*before, program, *arguments)],
            cwd=self.folder,
            env=os.environ | self.cache | environment | {"KADAPT_COUNTERS": str(counters)},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        lines = counters.read_text().splitlines() if counters.exists() else []
        memory = json.loads(lines[-1]).get("memory", {}) if lines else {}
        return Outcome(completed.returncode, completed.stdout, completed.stderr, memory)

    def compare(self, pair: Pair, *arguments: object, **options: Any) -> Outcome:
        """Run both; their status and output must be equal. Returns the adapted one's outcome."""
        plain = self.run(pair.plain, *arguments, **options)
        adapted = self.run(pair.adapted, *arguments, **options)
        assert (adapted.status, adapted.output) == (plain.status, plain.output), adapted
        assert plain.output, plain
        return adapted
