# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of redirected calls, kadapt/lib/calls.def."""

import re
from functools import cache
from pathlib import Path

# The table belongs to this code, so it does not depend on $KADENCE_HOME.
TABLE = Path(__file__).resolve().parents[2] / "kadapt" / "lib" / "calls.def"
ROW = re.compile(r'^(\w+)_CALL\("(\w+)"(?:, (\w+))?', re.MULTILINE)
IO, BATCHED, MEMORY = "IO", "BATCHED", "MEMORY"


@cache
def families(kind: str) -> dict[str, tuple[str, ...]]:
    """The names of the calls of this kind, by family, in the table's order."""
    found: dict[str, tuple[str, ...]] = {}
    for row, name, family in ROW.findall(TABLE.read_text(encoding="utf-8")):
        if row == kind:
            found[family] = (*found.get(family, ()), name)
    return found
