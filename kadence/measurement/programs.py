# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the files of a build that are the program, built twice: plain and adapted."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kadence.base import elf
from kadence.measurement.measure import ADAPTED, PLAIN
from kadence.program.program import Program


@dataclass(frozen=True)
class Built:
    """A program of a build, by the build-ids of its two builds."""

    file: str  # path below the folder of either build
    plain: str
    adapted: str


def built(program: Program, folders: Mapping[str, Path]) -> list[Built]:
    """The program that `run` starts; if that is a script, every program that was adapted."""
    if ADAPTED not in folders:
        return []
    started = os.path.normpath(program.run[0])
    pairs = {pair.file: pair for pair in _pairs(folders)}
    if started in pairs:
        return [pairs[started]]
    return [pair for pair in pairs.values() if pair.plain != pair.adapted]


def _pairs(folders: Mapping[str, Path]) -> Iterator[Built]:
    for path in sorted(folders[ADAPTED].rglob("*")):
        if not path.is_file() or not os.access(path, os.X_OK):
            continue
        file = path.relative_to(folders[ADAPTED]).as_posix()
        plain, adapted = elf.build_id(folders[PLAIN] / file), elf.build_id(path)
        if plain is not None and adapted is not None:
            yield Built(file, plain, adapted)
