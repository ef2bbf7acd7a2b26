# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests import `planted_records` and kadapt's `trial_programs`, which pytest does not find."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "kadapt/trials")]

from planted_records import write_plan  # noqa: E402


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A plan of three phases, in which memory is tried."""
    return write_plan(tmp_path / "heat.plan.json")
