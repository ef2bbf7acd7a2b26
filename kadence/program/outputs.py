# SPDX-License-Identifier: GPL-2.0-or-later
"""The outputs of a run of a program: its files and its standard output."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from kadence.program import filters
from kadence.program.filters import STANDARD_OUTPUT
from kadence.program.program import Program

Files = dict[str, Path]


def files(program: Program, folder: Path, scratch: Path) -> Files:
    """The path of each output after a run in `folder` whose streams went to `scratch`."""
    named = {name: folder / name for name in program.outputs}
    return named | {STANDARD_OUTPUT: scratch / "stdout"}


def remove(program: Program, folder: Path) -> None:
    """Remove the outputs of an earlier run, so that they cannot be mistaken for this run's."""
    for name in program.outputs:
        (folder / name).unlink(missing_ok=True)


def absent(found: Mapping[str, Path]) -> str | None:
    """The name of an output that the run did not write; None if there is none."""
    return next((name for name, path in found.items() if not path.is_file()), None)


def checksums(program: Program, found: Mapping[str, Path]) -> dict[str, str]:
    """SHA-256 of the compared lines of each output."""
    return {name: filters.checksum(program.filters, name, path) for name, path in found.items()}


def files_in(program: Program, place: Path) -> Files:
    """The paths of the outputs that keep() copied to `place`."""
    return {name: place / name for name in (*program.outputs, STANDARD_OUTPUT)}


def keep(found: Mapping[str, Path], place: Path) -> Files:
    """Copy outputs to `place`, where the next run does not overwrite them."""
    kept = {name: place / name for name in found}
    for name, path in found.items():
        kept[name].parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, kept[name])
    return kept
