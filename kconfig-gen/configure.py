# SPDX-License-Identifier: GPL-2.0-or-later
"""The configuration: Kbuild merges and completes it, and every requested symbol is checked."""

import re
from collections.abc import Sequence
from pathlib import Path

from kadence.errors import BuildError
from kadence.kconfig import commands, explain, fragment
from kadence.kconfig.identity import Inputs
from kadence.kconfig.request import TAILORED
from kadence.kconfig.rules import Requested

SET = re.compile(r"^CONFIG_(\w+)=(.*)$", re.MULTILINE)


def configure(inputs: Inputs, tree: Path, build: Path, log: Path) -> None:
    """Leave a complete .config in `build` that holds every requested symbol."""
    base = build / "base.config"
    requests = build / "fragment.config"
    requests.write_text(fragment.render(inputs.request, inputs.requested), encoding="utf-8")
    commands.run(make(inputs, build, inputs.goal), tree, log)
    (build / ".config").rename(base)
    merge = [str(tree / "scripts/kconfig/merge_config.sh"), "-m", "-Q", "-O", str(build)]
    commands.run(["sh", *merge, str(base), str(requests)], build, log)
    if inputs.request.kind == TAILORED:
        _stay_smallest(inputs, tree, build, log)
    commands.run(make(inputs, build, "olddefconfig"), tree, log)
    check(inputs, tree, build / ".config")


def _stay_smallest(inputs: Inputs, tree: Path, build: Path, log: Path) -> None:
    """Symbols that the fragment made visible would get their defaults; here they stay off."""
    merged = build / "merged.config"
    (build / ".config").rename(merged)
    arguments = make(inputs, build, inputs.target.smallest_goal)
    commands.run(arguments, tree, log, extra={"KCONFIG_ALLCONFIG": str(merged)})


def make(inputs: Inputs, build: Path, *goals: str) -> list[str]:
    """Kbuild's command line for this target."""
    variables = [f"{name}={value}" for name, value in inputs.target.make_variables.items()]
    return ["make", *variables, *commands.compiler_variables(), f"O={build}", *goals]


def values(config: Path) -> dict[str, str]:
    """Symbols of a configuration file, strings without their quotes; what is off is absent."""
    found = SET.findall(config.read_text(encoding="utf-8"))
    return {symbol: value.strip('"') for symbol, value in found}


def check(inputs: Inputs, tree: Path, config: Path) -> None:
    """A requested symbol that did not survive is an error that names the reason."""
    final = values(config)
    lost = [wanted for wanted in inputs.requested if final.get(wanted.symbol, "n") != wanted.value]
    if lost:
        raise BuildError(_complaint(lost, final, inputs, tree))


def _complaint(lost: Sequence[Requested], final: dict[str, str], inputs: Inputs, tree: Path) -> str:
    wanted = lost[0]
    why = explain.reason(wanted, final, tree, inputs.target.kconfig_variables)
    others = ", ".join(other.symbol for other in lost[1:])
    return (
        f"CONFIG_{wanted.symbol}={wanted.value} (wanted by {wanted.origin}: {wanted.reason}) did "
        f"not survive: the configuration has {final.get(wanted.symbol, 'n')}; {why}"
        + (f"; also lost: {others}" if others else "")
    )
