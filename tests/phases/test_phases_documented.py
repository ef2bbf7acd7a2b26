# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the commands that docs/compare.md shows, on heat."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kadence.base import resources
from kadence.program import program


@pytest.fixture(scope="module")
def shown(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the page's commands ran."""
    folder = tmp_path_factory.mktemp("shown")
    source = root / "examples/heat/heat.c"
    compiler = resources.built("bin/kadence-cc")
    subprocess.run([compiler, "-O2", "-o", "heat", source, "-lm"], cwd=folder, check=True)
    commands = re.search(r"```sh\n(.*?)```", (root / "docs/compare.md").read_text(), re.DOTALL)
    assert commands
    done = subprocess.run(
        ["sh", "-eu"],
        input=commands.group(1),
        cwd=folder,
        env=os.environ | {"PATH": f"{root}/.venv/bin:{os.environ['PATH']}"},
        text=True,
        capture_output=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr
    return folder


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_heat_is_input_stable(shown: Path) -> None:
    document = read(shown / "heat.compare.json")
    assert document["verdict"] == "input-stable"
    families = [
        [(phase["family"], phase["kind"]) for phase in described["phases"]]
        for described in document["inputs"]
    ]
    assert families == [[(0, "compute"), (1, "file-io")]] * 2
    assert (shown / "cross.png").read_bytes().startswith(b"\x89PNG")
    assert (shown / "heat-compare.png").read_bytes().startswith(b"\x89PNG")


def test_heats_markers_meet_the_goals_on_both_plates(shown: Path) -> None:
    plan = read(shown / "heat.plan.json")
    places = {marker["phase"]: marker["function"] for marker in plan["markers"]}
    assert places == {0: "diffuse", 1: "checkpoint"}
    # The steps of each run, and its checkpoints.
    found = plan["announcement"]
    for figures, steps, checkpoints in (
        (found["chosen_on"], 600, 10),
        (found["validated_on"][0], 500, 12),
    ):
        assert figures["fires"] == steps + checkpoints
        assert figures["boundaries"] == 2 * checkpoints - ("600" in figures["program"])
        assert (figures["unmarked"], figures["announced"], figures["false"]) == (0, 1.0, 0.0)


@pytest.mark.parametrize("name", ["heat", "lu", "minimap2", "ring"])
def test_every_example_names_an_input_that_validates(root: Path, name: str) -> None:
    described = program.read(root / "examples" / name)
    assert described.validate
    assert described.validate[0] == described.profile[0]
    assert described.validate != described.profile
