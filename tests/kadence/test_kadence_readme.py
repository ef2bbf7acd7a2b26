# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the commands that the README shows."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kadence.base import artefact


def _shown_commands(root: Path) -> str:
    section = (root / "README.md").read_text().split("## On your own program", 1)[1]
    found = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert found
    return found.group(1)


@pytest.mark.kernel
def test_readme_commands_work(root: Path, tmp_path: Path) -> None:
    shutil.copy(root / "examples/heat/heat.c", tmp_path)
    path = f"{root}/.venv/bin:{root}/build/bin:{os.environ['PATH']}"
    completed = subprocess.run(
        ["sh", "-eu"],
        input=_shown_commands(root),
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        text=True,
        capture_output=True,
        timeout=1800,
    )
    assert completed.returncode == 0, completed.stderr
    plan = artefact.read(tmp_path / "heat.plan.json", artefact.PLAN)
    assert plan["markers"]
    assert (tmp_path / "heat.png").read_bytes().startswith(b"\x89PNG")
    symbols = subprocess.run(["nm", "heat-adapted"], cwd=tmp_path, text=True, capture_output=True)
    assert "kadapt_phase_enter" in symbols.stdout


@pytest.mark.parametrize(
    "document",
    [
        *("README.md", "docs/hacking.md", "docs/phases.md", "docs/view.md"),
        *("docs/learn.md", "docs/artefacts.md", "docs/artefacts-trials.md"),
        *("docs/phases-method.md", "docs/markers.md"),
        *("docs/slurm.md", "docs/slurm-targets.md", "docs/scale.md", "docs/ceiling.md"),
        *("docs/tune.md", "docs/artefacts-tune.md"),
    ],
)
def test_links_lead_somewhere(root: Path, document: str) -> None:
    page = root / document
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{document} links to {target}"
