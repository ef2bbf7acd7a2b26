# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of a trace: the symbols that guard code that ran, with one place each as evidence."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kadence.kconfig.trace.guards import Guards
from kadence.kconfig.trace.kbuild import Kbuild
from kadence.kconfig.trace.lift import Lift
from kadence.kconfig.trace.lines import Line

# Run by the program alone; run also by the boot, or by a program that does nothing.
PROGRAM, ANY = "program", "any"


@dataclass(frozen=True)
class Tree:
    """The source and configuration that a traced kernel was built from."""

    path: Path
    variables: Mapping[str, str]  # of its makefiles and Kconfig files
    values: Mapping[str, str]  # its configuration


@dataclass(frozen=True)
class Symbol:
    """A symbol that a configuration can ask for, and why."""

    symbol: str
    ran: str  # PROGRAM or ANY
    evidence: str  # file:line of code that ran under the guard that needs this symbol
    instructions: int


@dataclass(frozen=True)
class _Guard:
    evidence: str
    instructions: int


def guarding(tree: Tree, lines: Counter[Line]) -> dict[str, _Guard]:
    """Symbols that guard these lines directly, with the line of most instructions as evidence."""
    on = frozenset(symbol for symbol, value in tree.values.items() if value in {"y", "m"})
    guards, kbuild = Guards(tree.path), Kbuild(tree.path, tree.variables)
    found: dict[str, _Guard] = {}
    for (file, number), count in sorted(lines.items(), key=lambda item: (-item[1], item[0])):
        needed = guards.around(file, number).needs(on)
        if file.endswith((".c", ".S")):
            needed |= kbuild.above(file).needs(on)
        for symbol in needed & on:
            first = found.get(symbol, _Guard(f"{file}:{number}", 0))
            found[symbol] = _Guard(first.evidence, first.instructions + count)
    return found


def symbols(tree: Tree, program: Counter[Line], rest: Counter[Line]) -> list[Symbol]:
    """Symbols to ask for, the program's first; a symbol in both parts is the program's."""
    lift = Lift(tree.path, tree.variables, tree.values)
    chosen: dict[str, Symbol] = {}
    for ran, lines in ((PROGRAM, program), (ANY, rest)):
        direct = guarding(tree, lines)
        for symbol, guard in lift.choices(direct).items():
            why = direct[guard]
            chosen.setdefault(symbol, Symbol(symbol, ran, why.evidence, why.instructions))
    return sorted(chosen.values(), key=lambda found: (found.ran != PROGRAM, found.symbol))
