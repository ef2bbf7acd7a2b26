# SPDX-License-Identifier: GPL-2.0-or-later
"""The number of a program's tasks that may run at once, from its plan and environment."""

from collections.abc import Mapping
from pathlib import Path

from kadence.kconfig.request.needs import needs_in

OPENMP = "OMP_NUM_THREADS"
# Targets on which the threads of one process run at once. On User-Mode Linux they take turns, even
# if it has several processors, and a thread that spins keeps the others waiting.
THREADS_AT_ONCE = frozenset({"x86_64"})


def of_plan(plan: Path | None, target: str) -> int:
    """Tasks of the profiled run that the target can run at once; 1 if they are unknown."""
    needs = needs_in(plan) if plan else None
    if needs is None or (needs.threads and target not in THREADS_AT_ONCE):
        return 1
    return max(needs.tasks, 1)


def of_environment(environment: Mapping[str, str], target: str) -> int:
    """The number of OpenMP's threads; of a list, which is for nested regions, the outermost."""
    if target not in THREADS_AT_ONCE:
        return 1
    outermost = environment.get(OPENMP, "").partition(",")[0].strip()
    return max(int(outermost), 1) if outermost.isdecimal() else 1
