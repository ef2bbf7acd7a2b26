# SPDX-License-Identifier: GPL-2.0-or-later
"""Made-up measurements and reports on them, whose truth is known, and a reader of their pages."""

import copy
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np

from kadence.measurement.execution import Sample
from kadence.measurement.measure import (
    ADAPTED,
    GENERIC,
    MACHINE,
    PLAIN,
    TAILORED,
    Cell,
    Measurements,
)
from kadence.program.leaving_out import LeftOut
from kadence.report import report

ROUNDS = 9
CELLS = [
    Cell(kernel, program) for kernel in (MACHINE, GENERIC, TAILORED) for program in (PLAIN, ADAPTED)
]
WINNER = Cell(TAILORED, ADAPTED)
SAMPLE = Sample(
    seconds=1.0,
    program_seconds=0.9,
    boot_seconds=0.1,
    user_seconds=0.8,
    system_seconds=0.1,
    voluntary_switches=3,
    involuntary_switches=40,
    minor_faults=500,
    major_faults=0,
    max_resident_bytes=7 << 20,
)


def measurements(factors: dict[Cell, float], noise: float = 0.001) -> Measurements:
    """Every combination takes 1 s times its factor, with reproducible noise."""
    generator = np.random.default_rng(3)
    found = Measurements(samples={})
    for cell in CELLS:
        times = factors.get(cell, 1.0) * (1 + noise * generator.standard_normal(ROUNDS))
        found.samples[cell] = [
            replace(SAMPLE, seconds=float(time), program_seconds=float(time) - 0.1)
            for time in times
        ]
        found.outputs[cell] = {"standard output": "00"}
    return found


PHASES = [
    {
        "id": 0,
        "kind": "compute",
        "weight": 0.9,
        "hottest": [
            {"function": "diffuse<&>", "file": "src/heat.c", "line": 12, "share": 0.93},
        ],
    },
    {"id": 1, "kind": "file-io", "weight": 0.9, "hottest": []},
]
POLICY = {
    "phase": 0,
    "name": "compute",
    "quantum_ns": 5_000_000_000,
    "evidence": "It computes.",
}
MARKER = {
    "phase": 1,
    "function": "checkpoint",
    "kind": "loop_preheader",
    "file": "src/heat.c",
    "line": 9,
    "verified": False,
    "expected_fires": 20,
    "evidence": "It fires once.",
}
CHOSEN_ON = {
    "program": ["./heat", "-s", "9"],
    "boundaries": 20,
    "unmarked": 1,
    "announced": 0.976,
    "fires": 400,
    "false": 0.013,
    "firings_per_second": 225.1,
}
VALIDATED_ON = CHOSEN_ON | {"program": ["./heat", "-n", "7"], "announced": None, "false": None}
ANNOUNCEMENT = {
    "announced_at_least": 0.95,
    "false_at_most": 0.05,
    "firings_per_second_at_most": 1000.0,
    "withdrawn": [1],
    "chosen_on": CHOSEN_ON,
    "validated_on": [VALIDATED_ON],
}
PLAN = {
    "stability": {"verdict": "input-stable", "unknown": 0.021, "allowed": 0.05},
    "level": {"joined": [[1, 2]], "reason": "the 3 phases <joined> into 2"},
    "announcement": ANNOUNCEMENT,
    "policies": [POLICY, POLICY | {"phase": 1, "quantum_ns": 0}],
    "markers": [MARKER],
    "refused": [{"phase": None, "what": "a long quantum", "reason": "Threads spin."}],
}
PIECES = [{"phase": 0, "start": 0, "length": 500}, {"phase": 1, "start": 500, "length": 100}]
PROFILE = {"interval": 1000, "intervals": 600, "timeline": [{"thread": 1, "pieces": PIECES}]}
TAILORING = {
    "outcome": "repaired",
    "reason": "the check failed",
    "check": ["./p", "check"],
    "builds": 3,
    "repairs": [{"symbol": "FUTEX", "value": "y", "reason": "it hung", "rule": ""}],
}
KERNEL = {
    "id": "0123456789abcdef",
    "release": "6.12.1",
    "image_bytes": 5 << 20,
    "text_bytes": 3 << 20,
    "boot_seconds": None,
}


def document(
    found: Measurements, notes: tuple[str, ...] = (), left_out: tuple[LeftOut, ...] = ()
) -> dict[str, Any]:
    """A report on the measurements; its reader may change it."""
    body = report.body(found, ROUNDS, notes, left_out=left_out) | {
        "flags": None,
        "ceiling": None,
        "observed": None,
        "command": ["kadence", "specialize", "heat"],
        "program": {"name": "heat", "run": ["./heat"], "profile": ["./heat", "-s", "9"]},
        "machine": {"release": "6.1.0", "processor": "A <fast> one", "processors": 2},
        "profile": PROFILE,
        "phases": PHASES,
        "plan": PLAN,
        "system_calls": [
            {"name": "write", "descriptor": "file", "count": 7, "bytes": 70},
            {"name": "brk", "descriptor": "", "count": 3, "bytes": 0},
        ],
        "tailoring": TAILORING,
        "left_out": [{"reason": "no time-sharing", "symbols": ["CGROUPS", "NAMESPACES"]}],
        "kernels": [KERNEL | {"kind": kind} for kind in (GENERIC, TAILORED)],
        "trials": {"kernels": [], "notes": [], "kernel": None, "sentence": "No policy was tried."},
    }
    return copy.deepcopy(body)


class Page(HTMLParser):
    """Collects open tags, references and the text."""

    VOID = frozenset({"meta", "br", "img", "link", "circle", "line", "rect"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.references += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)


def parsed(source: str) -> Page:
    reader = Page()
    reader.feed(source)
    reader.close()
    assert not reader.open
    return reader


def visible_text(source: str) -> str:
    return " ".join(" ".join(parsed(source).text).split())
