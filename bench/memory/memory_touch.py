# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the cost of a fresh page on User-Mode Linux, beside this machine's own kernel."""

import json
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.base.rows import Tally
from bench.memory import memory_kernel
from bench.memory.memory_rows import Cell, Line, table, tally
from kadence.base import resources
from kadence.kconfig.store.store import Kernel
from kadence.measurement import execution
from kadence.measurement.execution import ExecutionError

MEBIBYTES = 64
BOOTS, ROUNDS_A_BOOT = 5, 3
GOAL_NS = 3000.0
MACHINE, GUEST = "this machine's own kernel", "User-Mode Linux"
PLAIN = "plain"
TITLE = "first touch"


@dataclass(frozen=True)
class Case:
    """One way to get memory, on one kernel."""

    kernel: str
    way: str  # its name in bench/memory/touch.c
    told: str
    judged: bool = False

    @property
    def label(self) -> str:
        return f"{self.kernel}, {self.told}"


CASES = (
    Case(MACHINE, PLAIN, "page by page"),
    Case(MACHINE, "populate", "MADV_POPULATE_WRITE"),
    Case(MACHINE, "huge", "MADV_HUGEPAGE"),
    Case(MACHINE, "file", "a shared file, MAP_POPULATE: its part of a guest's page"),
    Case(GUEST, PLAIN, "page by page"),
    Case(GUEST, "populate", "MADV_POPULATE_WRITE"),
    Case(GUEST, "ahead", "KADAPT_MEMORY_AHEAD", judged=True),
    Case(GUEST, "dense", "KADAPT_MEMORY_DENSE", judged=True),
    Case(GUEST, "now", "KADAPT_MEMORY_DENSE, NOW", judged=True),
)


@dataclass
class Samples:
    """The samples of one case: nanoseconds and faults per page."""

    never_used: list[float]
    used: list[float]
    faults: list[float]


def lines() -> Generator[str, None, Tally]:
    """Yields the table."""
    kernel = memory_kernel.made_for_it("um")
    found = _measured(kernel)
    rows = [_line(case, found[case]) for case in CASES]
    yield f"{TITLE} of {MEBIBYTES} MiB, nanoseconds per page, populating and touching together:"
    yield f"median of {BOOTS} runs, interleaved (lowest to highest)"
    yield from table(("never used before", "used before", "faults per page"), rows)
    yield ""
    yield "If the guest has never used memory before, its host has not given it this memory yet."
    yield f"The shared file's row shows what the host needs to give it. {GUEST}: {kernel.id}."
    return tally([Line(TITLE, ()), *rows])


def _line(case: Case, samples: Samples | str) -> Line:
    if isinstance(samples, str):
        return Line(case.label, (samples,))
    goal = GOAL_NS if case.judged else None
    return Line(
        case.label,
        (
            Cell.of(samples.never_used, goal),
            Cell.of(samples.used, goal),
            f"{statistics.median(samples.faults):.4f}",
        ),
    )


def _measured(kernel: Kernel) -> Mapping[Case, Samples | str]:
    """Returns the samples of each case, or why there are none."""
    found: dict[Case, Samples | str] = {}
    samples: dict[Case, Samples] = defaultdict(lambda: Samples([], [], []))
    for _ in range(BOOTS):
        for case in CASES:
            image = kernel.image if case.kernel == GUEST else None
            try:
                _add(samples[case], _run(case.way, image))
                found[case] = samples[case]
            except ExecutionError as error:
                found[case] = f"n/a ({str(error).rpartition(': ')[2]})"
    return found


def _run(way: str, image: Path | None) -> list[dict[str, float]]:
    touch = str(resources.built("bench/memory/touch"))
    with tempfile.TemporaryDirectory(prefix="kadence-touch-") as name:
        scratch = Path(name)
        ending = execution.run(
            [touch, way, str(MEBIBYTES), str(ROUNDS_A_BOOT)],
            scratch,
            image=image,
            scratch=scratch,
            environment=execution.environment(),
        )
        if ending.status:
            raise ExecutionError((scratch / "stderr").read_text(encoding="utf-8").strip())
        said = (scratch / "stdout").read_text(encoding="utf-8")
    return [json.loads(line) for line in said.splitlines()]


def _add(samples: Samples, rounds: list[dict[str, float]]) -> None:
    costs = [each["populate_ns"] + each["touch_ns"] for each in rounds]
    samples.never_used.append(costs[0])
    samples.used += costs[1:]
    samples.faults += [each["faults"] for each in rounds]
