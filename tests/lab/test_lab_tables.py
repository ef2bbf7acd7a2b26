# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of the lab's program, and the tables made of them."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from kadence.base.errors import ArtefactError
from kadence.lab import figures

SETTING = '{"file_system": "tmpfs", "guest_bytes": 0, "clock_cost": 80.0}\n'
GETPPID = (
    '{"operation": "getppid", "unit": "ns", "median": 337.28, "low": 337.00, "high": 338.29, '
    '"rounds": 11, "batch": 10000, "crossings": 1}\n'
)
PHASE = '{"operation": "phase", "unit": "ns", "error": "ENOENT", "errno": 2}\n'


@pytest.fixture
def rows(root: Path) -> Iterator[ModuleType]:
    """bench/base/rows.py."""
    sys.path.insert(0, str(root))
    yield importlib.import_module("bench.base.rows")
    sys.path.remove(str(root))


def test_lines_are_read() -> None:
    sink, found = figures.read(SETTING + GETPPID + PHASE)
    assert sink == "tmpfs"
    assert (found["getppid"].median, found["getppid"].rounds) == (337.28, 11)
    assert found["phase"].median is None
    assert str(found["phase"]) == "n/a (ENOENT)"


@pytest.mark.parametrize("text", ["", "no line\n", GETPPID, SETTING + '{"unit": "ns"}\n'])
def test_other_lines_are_refused(text: str) -> None:
    with pytest.raises(ArtefactError, match="cannot parse the output"):
        figures.read(text)


def test_goals_are_judged(rows: ModuleType) -> None:
    Goal, Row = rows.Goal, rows.Row  # noqa: N806
    assert Row("a", 326, 150, Goal(most=150)).verdict == "met"
    assert Row("a", 326, 151, Goal(most=150)).verdict == "MISSED"
    assert Row("a", 300, 200, Goal(share=2 / 3)).verdict == "met"
    assert Row("a", 300, 201, Goal(share=2 / 3)).verdict == "MISSED"
    assert Row("a", None, 201, Goal(share=2 / 3)).verdict == ""
    assert Row("a", 300, None, Goal(most=1)).verdict == ""


def test_missed_goals_are_named(rows: ModuleType) -> None:
    found = [
        rows.Row("getppid", 326, 400, rows.Goal(most=150)),
        rows.Row("write", 1696, 900, rows.Goal(most=1000)),
        rows.Row("phase", None, None, why_none="n/a (ENOENT)"),
    ]
    assert rows.summary(found) == "2 goals, 1 MISSED: getppid."
    assert rows.table(("Debian", "tailored"), found) == [
        "         Debian      tailored  ratio      goal",
        "getppid     326           400   1.23    <= 150  MISSED",
        "write     1,696           900   0.53  <= 1,000  met",
        "phase         -  n/a (ENOENT)",
    ]
