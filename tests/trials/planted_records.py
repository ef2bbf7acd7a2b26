# SPDX-License-Identifier: GPL-2.0-or-later
"""Records of trials with planted effects, and plans that they belong to.

The lines are written from the description in docs/artefacts-trials.md, not by libkadapt's code.
"""

import json
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kadence.base import artefact

PLAN_ID = "aaaabbbbbbcccccc"
PHASES = 3
MACHINE = {
    "processor": "AMD EPYC",
    "kernel": "6.18.44",
    "memory_bytes": 25_000_000_000,
    "processors": 2,
}
KIND = {"processor": "AMD EPYC", "kernel": "6.18", "memory_gib": 23}
SLOT_NS, SLOT_VISITS = 4_000_000, 4

Body = dict[str, Any]


def line(process: int, **body: Any) -> bytes:
    """One line with its sum."""
    return summed({"process": process, **body})


def summed(body: Body) -> bytes:
    """A line with its sum, whatever is in it."""
    text = json.dumps(body)[:-1].encode()
    return text + f', "sum": "{zlib.crc32(text):08x}"}}\n'.encode()


@dataclass
class Process:
    """The record of one process in the making."""

    number: int = 7
    header: Body = field(default_factory=dict)  # what differs from the usual header
    lines: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        usual = {
            "schema": "kadence.trials",
            "version": 1,
            "program": "ab" * 20,
            "plan": PLAN_ID,
            "machine": MACHINE,
            "seed": f"{self.number:016x}",
            "budget": 0.01,
            "started": 1_700_000_000,
        }
        self.lines.append(line(self.number, **(usual | self.header)))

    def phase(self, phase: int = 0, state: str = "going", spread: float = 0.01) -> "Process":
        body = {"phase": phase, "state": state, "spread": spread, "mean_ns": 1_000_000}
        body |= {"clock": "wall", "measure": "visits", "washout": 1, "measured": SLOT_VISITS}
        self.lines.append(line(self.number, phase=body))
        return self

    def block(
        self,
        difference: float,
        phase: int = 0,
        policy: str = "memory",
        level: int = 1,
        bound: float = 0.05,
        **changes: Any,
    ) -> "Process":
        times = [SLOT_NS, round(SLOT_NS * math.exp(difference))]
        body = {
            **{"phase": phase, "policy": policy, "level": level, "level_first": True},
            **{"difference": difference, "bound": bound, "time_ns": times},
            **{"work": [SLOT_VISITS, SLOT_VISITS], "task_ns": times, "system_ns": [0, 0]},
            **{"faults": [9, 0], "involuntary_switches": [0, 0]},
        }
        self.lines.append(line(self.number, block=body | changes))
        return self

    def blocks(self, differences: Sequence[float], **arm: Any) -> "Process":
        for difference in differences:
            self.block(float(difference), **arm)
        return self

    def decision(
        self, state: str, phase: int = 0, policy: str = "memory", level: int = 1, **changes: Any
    ) -> "Process":
        body = {"phase": phase, "policy": policy, "level": level, "state": state}
        body |= {"blocks": 12, "visits": 48, "effect": -0.03, "low": None, "high": None}
        self.lines.append(line(self.number, decision=body | changes))
        return self

    def end(self) -> "Process":
        body = {"elapsed_ns": 10**9, "spent_ns": 10**6, "boundaries": 123}
        self.lines.append(line(self.number, end=body))
        return self

    @property
    def content(self) -> bytes:
        return b"".join(self.lines)

    def write(self, path: Path) -> Path:
        path.write_bytes(self.content)
        return path


def planted(
    effect: float,
    blocks: int = 40,
    noise: float = 0.01,
    number: int = 7,
    luck: int = 0,
    arm: Body | None = None,
    **header: Any,
) -> Process:
    """A whole record in which one arm has this effect."""
    generator = np.random.default_rng([luck, number])
    differences = effect + noise * generator.standard_normal(blocks)
    process = Process(number, header).phase(**({"phase": arm["phase"]} if arm else {}))
    return process.blocks(list(differences), **(arm or {})).end()


def write_plan(path: Path, **trials: Any) -> Path:
    """A plan as far as learning goes; keywords replace parts of its trials."""
    tried = [{"phase": phase, "policies": ["memory"], "visits": 400} for phase in range(PHASES)]
    body = {
        "program": ["./heat", "-s", "600"],
        "policies": [{"phase": phase, "name": "compute"} for phase in range(PHASES)],
        "markers": [{"id": 0, "phase": 1, "function": "diffuse"}],
        "memory": {"keep_bytes": 0},
        "trials": {"mode": "on", "id": PLAN_ID, "phases": tried, "learned": [], "runs": []}
        | trials,
    }
    artefact.write(path, artefact.PLAN, "cd" * 20, ["kadence", "plan"], body)
    return path
