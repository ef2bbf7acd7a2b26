# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts the calls of a guest's kernel exactly, by a plugin of QEMU that the guest does not see.

Instructions are the kernel's own and its callees', without those of tasks that run in between.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import GuestError

# The guest's functions are then where its symbols say.
KERNEL_ARGUMENT = "nokaslr"
STAY = "+"  # all that a processor does in the kernel between two instructions of programs
CODE = frozenset("tTwW")
# The processor comes to these without a call, or they only pass a call on, or change stacks.
NO_FUNCTIONS = ("__x86_", "asm_", "entry_", "error_entry", "error_return", "paranoid_", "retbleed_",
                "srso_", "sync_regs")  # fmt: skip
FUNCTIONS, TALLIES, PATHS = "functions", "tallies", "paths"
PLUGIN = "kadence/lab-calls.so"


@dataclass(frozen=True)
class Tally:
    """What was counted of one function on one processor; all are instructions but `calls`.

    A section is a part of the guest's run, from 1 to 127, that a program marks; 0 is all the rest.
    """

    section: int
    processor: int
    function: str
    calls: int
    own: int
    inclusive: int
    longest: int


def functions(kallsyms: Iterable[str]) -> list[tuple[int, str]]:
    """Address and name of each function of the kernel itself, by rising addresses."""
    found = []
    for line in kallsyms:
        address, kind, name, *module = line.split()
        if kind in CODE and not module and not name.startswith(NO_FUNCTIONS):
            found.append((int(address, 16), name))
    return sorted(found)


def options(folder: Path, kallsyms: Iterable[str], *, paths: bool = False) -> tuple[str, ...]:
    """QEMU's options for a guest; `folder` then has the tallies and, if asked for, the paths."""
    lines = (f"{address:x} {name}\n" for address, name in functions(kallsyms))
    (folder / FUNCTIONS).write_text("".join(lines), encoding="ascii")
    files = f"functions={folder / FUNCTIONS},out={folder / TALLIES}"
    if paths:
        files += f",paths={folder / PATHS}"
    return ("-plugin", f"{resources.built(PLUGIN)},{files}")


def tallies(folder: Path) -> list[Tally]:
    """What the plugin wrote when the guest ended."""
    try:
        lines = (folder / TALLIES).read_text(encoding="ascii").splitlines()
    except FileNotFoundError as error:
        raise GuestError("QEMU ended without the tallies of its plugin") from error
    return [_tally(line.split()) for line in lines]


def _tally(words: list[str]) -> Tally:
    section, processor, function, *counts = words
    return Tally(int(section), int(processor), function, *map(int, counts))
