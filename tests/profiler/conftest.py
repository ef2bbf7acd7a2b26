# SPDX-License-Identifier: GPL-2.0-or-later
"""Test programs, compiled once, and profiles of them.

The tests import `stream_frames`; pytest's importlib mode does not add this folder to the path.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kadence.profiler import kprof
from kadence.profiler.format.profile import Profile

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
sys.path[:0] = [str(HERE)]

Compile = Callable[..., Path]
COMPILERS = {".cc": "g++-12", ".f90": "gfortran-12"}  # all others: gcc-12


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compile a test program with the given flags; the same program and flags only once."""
    directory = tmp_path_factory.mktemp("programs")
    made: dict[tuple[str, ...], Path] = {}

    def build(source: str, *flags: str) -> Path:
        key = (source, *flags)
        if key not in made:
            output = directory / f"{Path(source).stem}{len(made)}"
            compiler = COMPILERS.get(Path(source).suffix, "gcc-12")
            subprocess.run(
                [compiler, "-g", "-O1", *flags, "-o", output, PROGRAMS / source], check=True
            )
            made[key] = output
        return made[key]

    return build


@pytest.fixture
def profiled(kadence: Callable[..., Any], tmp_path: Path) -> Callable[..., Profile]:
    """Run a command line through `kadence profile` and return the profile."""

    def run(*argv: object, interval: int = 1_000_000, status: int = 0) -> Profile:
        output = tmp_path / "P.kprof"
        completed = kadence("profile", "--interval", interval, "-o", output, "--", *argv)
        assert completed.returncode == status, completed
        return kprof.read(output)

    return run


@pytest.fixture(scope="session")
def by_function() -> Callable[[Profile], dict[str, int]]:
    """The number of instructions of each function in a profile."""

    def sums(profile: Profile) -> dict[str, int]:
        totals: dict[str, int] = {}
        columns = np.asarray(profile.vectors.tocsr().sum(axis=0)).ravel()
        for block, instructions in zip(profile.blocks, columns, strict=True):
            totals[block.function] = totals.get(block.function, 0) + int(instructions)
        return totals

    return sums
