# SPDX-License-Identifier: GPL-2.0-or-later
"""The number of a program's tasks that may run at once, from its plan and environment."""

from collections.abc import Mapping
from pathlib import Path

from kadence.base import artefact
from kadence.base.errors import ArtefactError

# More than any machine's processors: older plans say only that there are several tasks.
MANY = 1 << 16
OPENMP = "OMP_NUM_THREADS"
# Targets on which the threads of one process run at once. On User-Mode Linux they take turns, even
# if it has several processors, and a thread that spins keeps the others waiting.
THREADS_AT_ONCE = frozenset({"x86_64"})


def of_plan(plan: Path | None, target: str) -> int:
    """Tasks of the profiled run that the target can run at once; 1 if they are unknown."""
    if plan is None:
        return 1
    needs = artefact.read(plan, artefact.PLAN).get("needs") or {}
    try:
        if needs.get("threads") and target not in THREADS_AT_ONCE:
            return 1
        several = needs.get("threads") or needs.get("processes")
        return max(int(needs.get("tasks", MANY if several else 1)), 1)
    except (AttributeError, TypeError, ValueError) as error:
        raise ArtefactError(
            f"{plan} does not say how many tasks the program has ({error!r}); make it anew"
        ) from error


def of_environment(environment: Mapping[str, str], target: str) -> int:
    """The number of OpenMP's threads; of a list, which is for nested regions, the outermost."""
    if target not in THREADS_AT_ONCE:
        return 1
    outermost = environment.get(OPENMP, "").partition(",")[0].strip()
    return max(int(outermost), 1) if outermost.isdecimal() else 1
