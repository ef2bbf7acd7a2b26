# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel functions that ran show about the program; the rows are in observed.toml."""

import tomllib
from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

# The prefix of x86_64's system call functions (arch/x86/include/asm/syscall_wrapper.h).
SYSTEM_CALL = "__x64_sys_"


@dataclass(frozen=True)
class Observed:
    """What a program asked of its kernel."""

    system_calls: list[str]
    socket_families: list[int]
    file_systems: list[str]
    paths: list[str]


@cache
def _rows() -> dict[str, Any]:
    path = Path(__file__).resolve().parent / "observed.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def observe(functions: Set[str], files: Iterable[str]) -> Observed:
    """Take the functions and source files of the program's part of a trace."""
    rows = _rows()
    calls = {name.removeprefix(SYSTEM_CALL) for name in functions if name.startswith(SYSTEM_CALL)}
    ran = set(files)
    systems = {
        name
        for place, name in rows["file_systems"].items()
        if place in ran or any(file.startswith(f"{place}/") for file in ran)
    }
    return Observed(
        system_calls=sorted(calls - {"ni_syscall"}),
        socket_families=sorted(
            family for name, family in rows["socket_families"].items() if name in functions
        ),
        file_systems=sorted(systems),
        paths=sorted({path for name, path in rows["paths"].items() if name in functions}),
    )
