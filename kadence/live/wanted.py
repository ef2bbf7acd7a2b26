# SPDX-License-Identifier: GPL-2.0-or-later
"""Units that a program shall take in a guest, whose kernel contains them.

This module imports only the standard library and base/, because `kadence run` works without the
other packages.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence.base.errors import UsageError
from kadence.kadapt.live import source

# The library of adapted programs reads it: words NAME or NAME:PHASE,PHASE….
VARIABLE = "KADAPT_UNITS"
PHASES = re.compile(r"\d+(,\d+)*")
MOST_PHASES = 256  # KADAPT_PHASES of the driver


@dataclass(frozen=True)
class Wanted:
    """A unit, and the phases that take it; without phases, all of the program's."""

    source: Path
    phases: str

    @property
    def numbers(self) -> tuple[int, ...]:
        """The phases; none if all take the unit."""
        return tuple(int(phase) for phase in self.phases.split(",") if phase)

    @property
    def word(self) -> str:
        """The unit as the library reads it."""
        return f"{self.source.stem}:{self.phases}" if self.phases else self.source.stem


def parse(text: str, folder: Path = Path()) -> Wanted:
    """A unit below the folder: UNIT.c or UNIT.c:PHASE,PHASE…."""
    path, colon, phases = text.partition(":")
    if colon and not PHASES.fullmatch(phases):
        raise UsageError(f"{text!r} is not of the form UNIT.c:PHASE,PHASE, such as writes.c:0,2")
    beyond = [phase for phase in phases.split(",") if phases and int(phase) >= MOST_PHASES]
    if beyond:
        raise UsageError(f"{text!r} names phase {beyond[0]}; phases are below {MOST_PHASES}")
    source.name_of(folder / path)
    return Wanted(folder / path, phases)


def environment(wanted: Sequence[Wanted], given: Mapping[str, str]) -> dict[str, str]:
    """The environment in which the program takes these units, and those that are named already."""
    words = [given[VARIABLE]] if given.get(VARIABLE) else []
    return dict(given) | {VARIABLE: " ".join([*words, variable(wanted)])}


def variable(wanted: Sequence[Wanted]) -> str:
    """The value of VARIABLE that names these units."""
    return " ".join(unit.word for unit in wanted)


def require(wanted: Sequence[Wanted], kernel: str, contained: Mapping[str, str]) -> None:
    """Raise UsageError if the kernel does not contain these units as they are now."""
    present = source.digests([unit.source for unit in wanted])
    for name, digest in present.items():
        if contained.get(name) != digest:
            what = "another version of" if name in contained else "no"
            raise UsageError(
                f"kernel {kernel} contains {what} unit {name}; build a kernel with "
                "`kadence kernel build --unit`"
            )
