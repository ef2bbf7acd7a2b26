# SPDX-License-Identifier: GPL-2.0-or-later
"""Which share of a run each kind of work takes, from the profile and this kernel's costs.

A candidate changes one or a few kinds of work; candidates.toml says how much of each it may save.

What it gets wrong: instructions of different kinds take different times, so a share of instructions
is not quite a share of the time. Memory beyond what the processor's table of translations covers
costs nothing if the program reads it from front to back.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kadence.boot import costs
from kadence.boot.costs import Costs
from kadence.phases.artefact.document import Document
from kadence.phases.describe.memory import PAGE_BYTES
from kadence.prediction import demand, prediction
from kadence.prediction.demand import Demand
from kadence.prediction.prediction import NANOSECONDS, Timed
from kadence.profiler.format.profile import Profile

RUN, OWN_CODE, ALLOCATOR = "run", "own code", "allocator"
FAULTS, AGAIN, MAPS = "page faults", "repeated page faults", "calls that map memory"
SPREAD, WAITING, PLANNED = "spread memory", "waiting for threads", "planned work"
KERNEL, TICKS = "kernel work", "ticks"
WORKS = (RUN, OWN_CODE, ALLOCATOR, FAULTS, AGAIN, MAPS, SPREAD, WAITING, PLANNED, KERNEL, TICKS)

DEVICE = Path("/dev/kadapt")
# What the processor's second table of translations covers with small pages: 2,048 entries.
COVERED_BYTES = 2048 * PAGE_BYTES
PAGE = (costs.FAULT, costs.FREE)  # a page's first touch, and its end
TICKS_A_SECOND = 100  # of kernels for User-Mode Linux
STRIP = 10_000  # rows of a profile to add up at a time
OPENMP_LIBRARY = "libgomp"
C_LIBRARIES = ("libc.so", "libc-", "libstdc++")
# Functions that serve malloc and free; the C library's own have such names below their public ones.
ALLOCATING = (
    *("malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "memalign", "posix_memalign"),
    *("aligned_alloc", "sysmalloc", "systrim", "unlink_chunk", "malloc_consolidate", "sbrk", "brk"),
    *("tcache_init", "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"),
)
PREFIXES = ("__libc_", "_int_", "__GI___libc_", "__GI_", "__")

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Share:
    """A kind of work's share of the run, and the figure that it is computed from."""

    value: float
    told: str


Shares = Mapping[str, Share]


@dataclass(frozen=True)
class Run:
    """The profiled run."""

    document: Document
    demand: Demand
    plan: Body | None
    timed: Timed
    own: Costs
    code: Mapping[str, float]  # OWN_CODE, ALLOCATOR -> share of the instructions
    device: bool  # the driver answers on this machine
    tick_nanoseconds: float  # of the dearest kernel


def of(run: Run) -> dict[str, Share]:
    """The shares of all kinds of work."""
    return {work: compute(run) for work, compute in COMPUTE.items()}


def code(profile: Profile, folder: Path) -> dict[str, float]:
    """The shares of the instructions in the program's own code and in the allocator."""
    sums = np.zeros(len(profile.blocks))
    for first in range(0, len(profile.instructions), STRIP):
        sums += profile.vectors[first : first + STRIP].sum(axis=0, dtype=np.float64)
    total = float(sums.sum()) or 1.0
    own = [Path(block.object).is_relative_to(folder) for block in profile.blocks]
    allocating = [_allocates(block.function, block.object) for block in profile.blocks]
    return {
        OWN_CODE: float(sums[np.array(own, dtype=bool)].sum()) / total,
        ALLOCATOR: float(sums[np.array(allocating, dtype=bool)].sum()) / total,
    }


def _allocates(function: str, file: str) -> bool:
    name = Path(file).name
    if not name.startswith(C_LIBRARIES):
        return False
    for prefix in PREFIXES:
        if function.startswith(prefix):
            function = function.removeprefix(prefix)
            break
    return function.partition(".")[0] in ALLOCATING


def uses_openmp(profile: Profile) -> bool:
    """Whether code of GCC's library for OpenMP ran."""
    return any(Path(block.object).name.startswith(OPENMP_LIBRARY) for block in profile.blocks)


def plan_changes(plan: Body | None, device: bool) -> bool:
    """Whether the plan changes something on this machine's own kernel (docs/memory.md)."""
    if plan is None:
        return False
    if any("keep" in site["treatments"] for site in plan["memory"]["sites"]):
        return True
    quanta = any(policy["quantum_ns"] for policy in plan["policies"])
    return device and bool(quanta or plan["io"]["sites"] or plan["memory"]["sites"])


# ---- kinds of work -------------------------------------------------------------------------------


def _priced(run: Run, count: float, what: str, *charges: str) -> Share:
    price = sum(run.own.of(charge) for charge in charges)
    value = min(count * price / NANOSECONDS / max(run.timed.processor_seconds, 1e-9), 1.0)
    return Share(value, f"{_percent(value)} for {what} ({count:,.0f} at {price / 1000:.2f} µs)")


def _run(run: Run) -> Share:
    return Share(1.0, f"all of the run's {run.timed.seconds:.3g} s")


def _own_code(run: Run) -> Share:
    share = run.code[OWN_CODE]
    return Share(share, f"{_percent(share)} of the instructions are the program's own")


def _allocator(run: Run) -> Share:
    share = run.code[ALLOCATOR]
    return Share(share, f"{_percent(share)} of the instructions are malloc's")


def _faults(run: Run) -> Share:
    return _priced(run, run.demand.faults, "page faults", *PAGE)


def _again(run: Run) -> Share:
    once = run.document.memory.peak_resident_bytes // PAGE_BYTES
    again = max(run.demand.faults - once, 0)
    return _priced(run, again, "repeated page faults", *PAGE)


def _maps(run: Run) -> Share:
    count = sum(item.charges.get(costs.MAP, 0) for item in run.demand.items)
    return _priced(run, count, "calls that map memory", costs.MAP)


def _spread(run: Run) -> Share:
    peak = run.document.memory.peak_resident_bytes
    value = max(1 - COVERED_BYTES / peak, 0.0) if peak else 0.0
    return Share(value, f"{peak / (1 << 20):,.1f} MiB of memory")


def _waiting(run: Run) -> Share:
    count = sum(item.charges.get(costs.WAIT, 0) for item in run.demand.items)
    return _priced(run, count, "waiting for threads", costs.WAIT)


def _kernel(run: Run) -> Share:
    """All calls and faults, at this kernel's prices."""
    value = prediction.charged(demand.in_full(run.demand, 0), run.own, adapted=False)
    share = min(value / max(run.timed.processor_seconds, 1e-9), 1.0)
    return Share(share, f"{_percent(share)} for all system calls and page faults")


def _ticks(run: Run) -> Share:
    """A tick interrupts the program as a signal does."""
    share = min(TICKS_A_SECOND * run.tick_nanoseconds / NANOSECONDS, 1.0)
    told = f"{TICKS_A_SECOND} ticks a second at {run.tick_nanoseconds / 1000:.3g} µs"
    return Share(share, f"{_percent(share)} for {told}")


def _planned(run: Run) -> Share:
    """The work that the plan adapts on this machine's own kernel."""
    saved = sum(_planned_nanoseconds(run))
    value = min(saved / NANOSECONDS / max(run.timed.processor_seconds, 1e-9), 1.0)
    return Share(value, f"{_percent(value)} for what the plan is about")


def _planned_nanoseconds(run: Run) -> Iterator[float]:
    if run.plan is None:
        return
    planned = demand.of(run.document, run.plan)
    keeps = plan_changes(run.plan, False)
    for item in planned.items:
        whole = item.nanoseconds(run.own, adapted=False)
        in_memory = costs.FAULT in item.charges
        if item.count and (run.device or (keeps and in_memory)):
            yield whole * item.adapted / item.count
        elif keeps and costs.MAP in item.charges:
            yield whole


COMPUTE: Mapping[str, Callable[[Run], Share]] = {
    RUN: _run,
    OWN_CODE: _own_code,
    ALLOCATOR: _allocator,
    FAULTS: _faults,
    AGAIN: _again,
    MAPS: _maps,
    SPREAD: _spread,
    WAITING: _waiting,
    PLANNED: _planned,
    KERNEL: _kernel,
    TICKS: _ticks,
}


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"
