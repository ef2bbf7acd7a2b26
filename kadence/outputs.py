# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run of a program wrote: its files and its standard output."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from kadence import filters
from kadence.filters import STANDARD_OUTPUT
from kadence.program import Program

Files = dict[str, Path]


def files(program: Program, folder: Path, scratch: Path) -> Files:
    """Where each output is after a run in `folder` whose streams went to `scratch`."""
    named = {name: folder / name for name in program.outputs}
    return named | {STANDARD_OUTPUT: scratch / "stdout"}


def remove(program: Program, folder: Path) -> None:
    """So that no output of an earlier run is taken for this one's."""
    for name in program.outputs:
        (folder / name).unlink(missing_ok=True)


def absent(found: Mapping[str, Path]) -> str | None:
    """An output that was not written."""
    return next((name for name, path in found.items() if not path.is_file()), None)


def checksums(program: Program, found: Mapping[str, Path]) -> dict[str, str]:
    """SHA-256 of what is compared of each output."""
    return {name: filters.checksum(program.filters, name, path) for name, path in found.items()}


def files_in(program: Program, place: Path) -> Files:
    """Where outputs are that were kept there."""
    return {name: place / name for name in (*program.outputs, STANDARD_OUTPUT)}


def keep(found: Mapping[str, Path], place: Path) -> Files:
    """Copy outputs to where the next run does not overwrite them."""
    kept = {name: place / name for name in found}
    for name, path in found.items():
        kept[name].parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, kept[name])
    return kept
