# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that a plan belongs to a program, by the functions that a wrapper recorded in it."""

import shutil
from pathlib import Path

from kadence.base import artefact, elf
from kadence.base.errors import ArtefactError
from kadence.profiler.format import cfgsection


def require_same_program(plan: Path, command: str) -> None:
    """Refuse a plan if the program contains none of its markers' functions.

    A command that no wrapper built (a script, a binary from elsewhere) has no record and passes.
    """
    marked = {marker["function"] for marker in artefact.read(plan, artefact.PLAN)["markers"]}
    recorded = _recorded_functions(command)
    if marked and recorded and marked.isdisjoint(recorded):
        raise ArtefactError(
            f"{plan} is a plan for another program: {command} has none of the functions it "
            f"marks ({', '.join(sorted(marked))}); profile {command} and plan again"
        )


def _recorded_functions(command: str) -> set[str]:
    found = shutil.which(command)
    if found is None or not elf.is_program(Path(found)):
        return set()
    _build_id, functions = cfgsection.read(Path(found))
    return {function.name for function in functions}
