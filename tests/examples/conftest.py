# SPDX-License-Identifier: GPL-2.0-or-later
"""The example programs, built by their own makefiles without anything of ours."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

COMPILERS = ("CC=gcc-12", "CXX=g++-12", "FC=gfortran-12")


@pytest.fixture(scope="session")
def example(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Build one example in a folder of its own; returns the program."""
    built: dict[str, Path] = {}

    def build(name: str) -> Path:
        if name not in built:
            folder = tmp_path_factory.mktemp(name)
            makefile = root / "examples" / name / "Makefile"
            subprocess.run(["make", "-s", "-f", makefile, *COMPILERS], cwd=folder, check=True)
            built[name] = folder / name
        return built[name]

    return build
