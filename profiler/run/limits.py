# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds how much memory a program that Kadence starts may use."""

import os
import resource
from collections.abc import Iterator
from pathlib import Path

CONTROL_GROUPS = Path("/sys/fs/cgroup")


def memory() -> int:
    """Return the least of the machine's memory, the control groups' and the resource limits."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([machine, *_of_groups(), *_of_resources()])


def _of_resources() -> Iterator[int]:
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        soft, _ = resource.getrlimit(kind)
        if soft != resource.RLIM_INFINITY:
            yield soft


def _of_groups() -> Iterator[int]:
    """Yield the limits of control groups (version 2), from the process's own up to the root."""
    lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    own = next((line[3:] for line in lines if line.startswith("0::")), None)
    if own is None:
        return
    group = CONTROL_GROUPS / own.lstrip("/")
    for folder in (group, *group.parents):
        if not folder.is_relative_to(CONTROL_GROUPS):
            return
        text = _text(folder / "memory.max")
        if text.isdigit():
            yield int(text)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""  # The root group has no such file.
