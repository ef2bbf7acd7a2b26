# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts for guests, and the figures that they print."""

import re
from collections import defaultdict
from collections.abc import Mapping

from kadence import boot
from kadence.base.errors import KadenceError
from kadence.boot import initramfs, qemu

LINE = re.compile(r"^(= )?(\S+)(?: ([\d.-]+))?\r?$", re.MULTILINE)

Figures = Mapping[str, Mapping[str, list[float]]]  # section -> name -> a value a round


def each(script: str, values: Mapping[str, object]) -> str:
    """The script with each @NAME@ replaced by its value."""
    return re.sub(r"@(\w+)@", lambda found: str(values[found.group(1)]), script)


def read(console: str) -> Figures:
    """The figures after each line "= SECTION", in lines "NAME VALUE"."""
    figures: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    section = ""
    for mark, name, value in LINE.findall(console):
        if mark:
            section = name
        elif value and section:
            figures[section][name].append(float(value))
    return figures


def run(machine: qemu.Machine, script: str, files: Mapping[str, initramfs.Content]) -> Figures:
    """What a guest measured by this script."""
    outcome = qemu.run_script(machine, script, files)
    if outcome.status or boot.complaints(outcome.console):
        raise KadenceError(f"the guest failed (status {outcome.status}):\n{outcome.console}")
    return read(outcome.console)


def least(figures: Figures, section: str, name: str) -> float:
    """The least of all rounds: what the kernel does beside the call only adds."""
    return min(figures[section][name])
