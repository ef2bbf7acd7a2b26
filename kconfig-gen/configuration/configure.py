# SPDX-License-Identifier: GPL-2.0-or-later
"""Configuring: Kbuild merges and completes the configuration; then every symbol is checked."""

import re
from collections.abc import Sequence
from pathlib import Path

from kadence.base.errors import BuildError
from kadence.kconfig.configuration import explain, fragment
from kadence.kconfig.configuration.identity import Inputs
from kadence.kconfig.configuration.rules import Requested
from kadence.kconfig.request.request import GENERIC
from kadence.kconfig.tree import commands

SET = re.compile(r"^CONFIG_(\w+)=(.*)$", re.MULTILINE)


def configure(inputs: Inputs, tree: Path, build: Path, log: Path) -> None:
    """Leave a complete .config in `build` that holds every requested symbol."""
    base = build / "base.config"
    requests = build / "fragment.config"
    requests.write_text(fragment.render(inputs.request, inputs.requested), encoding="utf-8")
    # The smallest configuration must know the fragment. Otherwise symbols that the fragment
    # makes visible would get their defaults in the merge.
    smallest = {"KCONFIG_ALLCONFIG": str(requests)} if inputs.request.kind != GENERIC else {}
    commands.run(make(inputs, build, *inputs.goals), tree, log, extra=smallest)
    (build / ".config").rename(base)
    merge = [str(tree / "scripts/kconfig/merge_config.sh"), "-m", "-O", str(build)]
    commands.run(["sh", *merge, str(base), str(requests)], build, log)
    commands.run(make(inputs, build, "olddefconfig"), tree, log)
    check(inputs, tree, build / ".config")


def make(inputs: Inputs, build: Path, *goals: str) -> list[str]:
    """Kbuild's command line for this target."""
    variables = [f"{name}={value}" for name, value in inputs.target.make_variables.items()]
    return ["make", *variables, *commands.compiler_variables(), f"O={build}", *goals]


def lost(requested: Sequence[Requested], config: Path) -> list[Requested]:
    """Requested symbols that a finished configuration lacks or has with another value."""
    final = values(config)
    return [wanted for wanted in requested if final.get(wanted.symbol, "n") != wanted.value]


def values(config: Path) -> dict[str, str]:
    """Symbols of a configuration file, strings without quotes; symbols that are off are absent."""
    found = SET.findall(config.read_text(encoding="utf-8"))
    return {symbol: value.strip('"') for symbol, value in found}


class LostSymbolsError(BuildError):
    """Requested symbols are not in the finished configuration."""

    def __init__(self, message: str, lost_symbols: Sequence[Requested]) -> None:
        super().__init__(message)
        self.symbols = tuple(lost_symbols)


def check(inputs: Inputs, tree: Path, config: Path) -> None:
    """Raise an error that names the reason if a requested symbol is lost.

    A symbol that only a trace asks for may be lost: the target of the trace may have more symbols.
    """
    missing = [wanted for wanted in lost(inputs.requested, config) if not wanted.soft]
    if missing:
        raise LostSymbolsError(_complaint(missing, values(config), inputs, tree), missing)


def _complaint(
    missing: Sequence[Requested], final: dict[str, str], inputs: Inputs, tree: Path
) -> str:
    wanted = missing[0]
    why = explain.reason(wanted, final, tree, inputs.target.kconfig_variables)
    others = ", ".join(other.symbol for other in missing[1:])
    return (
        f"CONFIG_{wanted.symbol}={wanted.value} (wanted by {wanted.origin}: {wanted.reason}) did "
        f"not survive: the configuration has {final.get(wanted.symbol, 'n')}; {why}"
        + (f"; also lost: {others}" if others else "")
    )
