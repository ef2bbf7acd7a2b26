# SPDX-License-Identifier: GPL-2.0-or-later
"""Other processes' work is told apart from Kadence's own."""

import subprocess
import sys

import pytest

from kadence.measurement import neighbours
from kadence.measurement.neighbours import Neighbours

BURN = "import time; end = time.process_time() + 0.6\nwhile time.process_time() < end: pass"


def test_our_own_work_is_not_others(monkeypatch: pytest.MonkeyPatch) -> None:
    # A machine on which only this process and its children are ever busy.
    monkeypatch.setattr(neighbours, "_busy_seconds", neighbours._own_seconds)
    began = Neighbours()
    subprocess.run([sys.executable, "-c", BURN], check=True)
    assert began.share() == pytest.approx(0.0, abs=0.01)


def test_others_work_is_noticed() -> None:
    began = Neighbours()
    # The kernel never charges this process for a grandchild whose parent does not wait for it.
    command = ["sh", "-c", '"$@" >/dev/null & exec sleep 1.5', "sh", sys.executable, "-c", BURN]
    subprocess.run(command, check=True)
    assert began.share() > 0


def test_only_a_noticeable_share_is_noted() -> None:
    assert neighbours.note(0.02) is None
    assert "took 35% of the processors' time" in (neighbours.note(0.35) or "")
