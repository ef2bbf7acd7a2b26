# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts for guests, and the figures that they print."""

import re
from collections import defaultdict
from collections.abc import Mapping

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
