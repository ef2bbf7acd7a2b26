# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the commands that docs/tune.md shows, on a short run of heat."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from kadence.base import artefact
from kadence.tune import candidates, conditions, shares

SHORT = '["./heat", "-s", "60", "-e", "20"]'


def test_the_page_on_heat(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "examples/heat", tmp_path / "heat")
    described = tmp_path / "heat/kadence.toml"
    short = re.compile(r"^(command|profile) = .*heat.*$", re.M)
    text = short.sub(rf"\1 = {SHORT}", described.read_text())
    described.write_text(re.sub(r"^validate = .*\n", "", text, flags=re.M))
    page = (root / "docs/tune.md").read_text()
    shown = re.search(r"```sh\n(.*?)```", page, re.DOTALL)
    assert shown
    done = subprocess.run(
        ["sh", "-eu"],
        input=shown.group(1),
        cwd=tmp_path,
        env=os.environ | {"PATH": f"{root}/.venv/bin:{os.environ['PATH']}"},
        text=True,
        capture_output=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("round 1:") <= 2  # of the races of the first command
    found = artefact.read(tmp_path / "heat.kadence/heat.tune.json", artefact.TUNE)
    names = [row["name"] for row in found["candidates"]]
    assert names[:3] == ["huge-kept", "O3", "O3-native-exact"]
    assert found["verdict"]["outcome"] in ("winner", "leave it")
    assert done.stdout.count(found["verdict"]["sentence"][1:]) == 2


def test_what_the_page_says_of_the_list(root: Path) -> None:
    page = (root / "docs/tune.md").read_text()
    known = {"needs": conditions.KNOWN, "work": shares.WORKS}
    names = {each.name for each in candidates.read(candidates.FILE, known)}
    for listed in re.findall(r"^kadence tune heat --candidates ([\w,-]+)", page, flags=re.M):
        assert set(listed.split(",")) <= names
    dimensions = re.search(r"different dimensions \((.*?)\)", page)
    assert dimensions and tuple(dimensions.group(1).split(", ")) == candidates.DIMENSIONS
