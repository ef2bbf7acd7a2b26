# SPDX-License-Identifier: GPL-2.0-or-later
"""The example programs, built by their own makefiles without Kadence."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

COMPILERS = ("CC=gcc-12", "CXX=g++-12", "FC=gfortran-12")


@pytest.fixture(scope="session")
def example(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Build one example in its own folder; returns the program's path."""
    built: dict[str, Path] = {}

    def build(name: str) -> Path:
        if name not in built:
            folder = tmp_path_factory.mktemp(name)
            makefile = root / "examples" / name / "Makefile"
            subprocess.run(["make", "-s", "-f", makefile, *COMPILERS], cwd=folder, check=True)
            built[name] = folder / name
        return built[name]

    return build
