# SPDX-License-Identifier: GPL-2.0-or-later
"""The conditions that candidates name in `needs`, and why one is not met."""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence.kconfig.request import series as kernel_series

HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@dataclass(frozen=True)
class Situation:
    """What is known of the program, the machine and the site."""

    threads: bool
    openmp: bool
    plan_changes: bool
    processors: int
    mitigations_off: bool  # the site allows kernels without mitigations
    huge_pages: str  # the content of HUGE_PAGES; empty if there is no such file
    glibc: tuple[int, ...]  # the C library's version; empty if it is another library
    taskset: bool


def huge_pages() -> str:
    """The kernel's setting of huge pages, as in `always [madvise] never`."""
    try:
        return HUGE_PAGES.read_text(encoding="ascii")
    except OSError:
        return ""


def glibc() -> tuple[int, ...]:
    """The version of the C library that Python uses; programs here use the same."""
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    except (ValueError, OSError):
        return ()
    numbers = version.split(".")
    return tuple(map(int, numbers)) if name == "glibc" and all(map(str.isdecimal, numbers)) else ()


def has_taskset() -> bool:
    """Whether util-linux's taskset can be run."""
    return shutil.which("taskset") is not None


def _lacks_huge_pages(here: Situation) -> str:
    if "[madvise]" in here.huge_pages:
        return ""
    if "[always]" in here.huge_pages:
        return "this kernel gives huge pages unasked, to the plain program, too"
    return "this kernel gives no huge pages"


# Condition -> why it is not met; empty if it is.
CONDITIONS: dict[str, Callable[[Situation], str]] = {
    "threads": lambda here: "" if here.threads else "the program has one thread",
    "OpenMP": lambda here: "" if here.openmp else "the program does not use OpenMP",
    "several processors": lambda here: "" if here.processors > 1 else "there is one processor",
    "huge pages on request": _lacks_huge_pages,
    "plan that changes something": lambda here: (
        "" if here.plan_changes else "the plan changes nothing on this machine's own kernel"
    ),
    "a site without mitigations": lambda here: (
        "" if here.mitigations_off else "the site does not allow kernels without mitigations"
    ),
    "taskset": lambda here: "" if here.taskset else "there is no taskset on PATH",
}
GLIBC, SOURCE = "glibc", "source"  # each with a version
KNOWN = (*CONDITIONS, GLIBC, SOURCE)


def unmet(needs: Sequence[str], here: Situation) -> str:
    """Why the first unmet condition is not met; empty if all are met."""
    for need in needs:
        if reason := _unmet(need, here):
            return reason
    return ""


def _unmet(need: str, here: Situation) -> str:
    if need in CONDITIONS:
        return CONDITIONS[need](here)
    what, _, version = need.partition(" ")
    return _lacks_source(version) if what == SOURCE else _lacks_glibc(version, here)


def _lacks_source(version: str) -> str:
    series = kernel_series.get(version)
    if series.tarball.is_file():
        return ""
    return f"the source of series {version} is missing: `{series.remedy}`"


def _lacks_glibc(version: str, here: Situation) -> str:
    wanted = tuple(int(number) for number in version.split(".") if number.isdecimal())
    return "" if here.glibc >= wanted else f"the C library is no glibc of {version} or later"
