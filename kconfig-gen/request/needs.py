# SPDX-License-Identifier: GPL-2.0-or-later
"""What a program needs of its kernel, as its plan says.

This module imports only the standard library and base/, because `kadence run` works without the
other packages.
"""

from dataclasses import dataclass
from pathlib import Path

from kadence.base import artefact
from kadence.base.errors import ArtefactError


@dataclass(frozen=True)
class Needs:
    """What a program asks of its kernel, according to its plan."""

    system_calls: frozenset[str] = frozenset()
    socket_families: frozenset[int] = frozenset()
    files: frozenset[str] = frozenset()  # patterns from the rules, of names in /dev, /proc and /sys
    file_systems: frozenset[str] = frozenset()  # types that are mounted
    threads: bool = False
    processes: bool = False
    tasks: int = 1  # that may run at once
    shared_memory: bool = False
    memory_bytes: int = 0
    io_paths: bool = False  # the plan has rings or batches
    memory: bool = False  # the plan serves page faults in bulk or with huge pages


@dataclass(frozen=True)
class _Plan:
    """What is read of a plan."""

    needs: Needs | None


def needs_in(plan: Path) -> Needs | None:
    """The needs of a plan; None if the profile has no system calls."""
    return artefact.load(_Plan, plan, artefact.PLAN).needs


def read_needs(plan: Path | None) -> Needs:
    """The needs of a plan; without a plan, as for a generic kernel, there are none."""
    if plan is None:
        return Needs()
    needs = needs_in(plan)
    if needs is None:
        raise ArtefactError(
            f"{plan} was made from a profile without system calls (the program counted itself, or "
            "the profile was imported), so it does not say what the program needs of a kernel; "
            "plan from a profile of a plain build (made without KADENCE_MODE=profile)"
        )
    return needs
