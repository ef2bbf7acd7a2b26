# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of docs/learn.md for heat, whose run is followed by a record of planted effects."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from planted_records import Process, planted

from kadence.base import artefact

EFFECT = -0.12


def commands(root: Path) -> list[str]:
    page = (root / "docs/learn.md").read_text()
    found = re.search(r"```sh heat\n(.*?)```", page, re.DOTALL)
    assert found
    return found[1].splitlines()


def shell(root: Path, folder: Path, line: str) -> str:
    path = f"{root}/.venv/bin:{root}/build/bin:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-euc", line],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, f"{line}: {done.stderr}"
    return done.stdout


def test_heat_learns(root: Path, tmp_path: Path) -> None:
    shutil.copy(root / "examples/heat/heat.c", tmp_path)
    said = ""
    for line in commands(root):
        said = shell(root, tmp_path, line) or said
        if line.startswith("KADAPT_TRIALS_RECORD="):
            append_planted(tmp_path)
    assert "rings in phase 1 on AMD EPYC, Linux 6.18, 23 GiB: " in said
    plan = artefact.read(tmp_path / "heat.plan.json", artefact.PLAN)
    (rings,) = [one for one in plan["trials"]["learned"] if one["policy"] == "rings"]
    assert abs(rings["effect"] - EFFECT) < 3 * rings["error"]
    assert plan["trials"]["phases"][1]["policies"] == ["rings"]


def append_planted(folder: Path) -> None:
    """What a machine with the device would have added to the run's own record."""
    plan = artefact.read(folder / "heat.plan.json", artefact.PLAN)
    arm = {"phase": 1, "policy": "rings", "level": 1}
    record: Process = planted(EFFECT, 60, arm=arm, plan=plan["trials"]["id"])
    with (folder / "monday.trials").open("ab") as file:
        file.write(record.content)
