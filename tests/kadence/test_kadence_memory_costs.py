# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of memory is measured once, before a program that needs the figures runs."""

from pathlib import Path
from typing import Any

import pytest

from kadence.base import resources
from kadence.prediction import memory_costs

PLAN: dict[str, Any] = {"memory": {"sites": [{"function": "work"}]}}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KADENCE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_it_is_measured_once_and_told_in_a_line(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory_costs.remember_for(PLAN)
    told = capsys.readouterr().err
    assert told.startswith("kadence: measured the cost of memory on this machine's own kernel: ")
    assert told.count("\n") == 1
    (kept,) = (cache / "memory").iterdir()
    before = kept.read_bytes()
    memory_costs.remember_for(PLAN)
    assert capsys.readouterr().err == ""
    assert kept.read_bytes() == before


def test_a_plan_that_leaves_memory_alone_needs_no_measurement(cache: Path) -> None:
    memory_costs.remember_for({"memory": {"sites": []}})
    assert not cache.exists()


@pytest.mark.parametrize("command", ["/bin/false", "/bin/true", "/nowhere"])
def test_a_measurement_that_fails_is_told_and_fails_nothing(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(resources, "built", lambda part: Path(command))
    memory_costs.remember_for(PLAN)
    told = capsys.readouterr().err
    assert "is not known, so programs populate nothing: " in told
    assert told.count("\n") == 1
