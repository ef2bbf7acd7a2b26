# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets the tests of this folder import the bench's modules."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.base import suite  # noqa: E402


@pytest.fixture(scope="session")
def suite_program(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Build a program of the suite, each once; returns its path."""
    made = suite.Suite(tmp_path_factory.mktemp("suite"))
    built: dict[str, Path] = {}

    def build(name: str) -> Path:
        if name not in built:
            subject = next(one for one in suite.SUBJECTS if one.name == name)
            made.build(subject, "plain")
            built[name] = Path(made.command(subject, "plain")[0])
        return built[name]

    return build
