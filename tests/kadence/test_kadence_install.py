# SPDX-License-Identifier: GPL-2.0-or-later
"""`make install` gives a Kadence that works where the checkout is not looked at."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from kadence.base.version import VERSION

BARE = {"PATH": "/usr/bin:/bin"}
LMOD = "/usr/share/lmod/lmod/init/bash"


@pytest.fixture(scope="module")
def prefix(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation that was moved after it was made."""
    folder = tmp_path_factory.mktemp("installed")
    installed = subprocess.run(
        [root / "tools/install", folder / "made"], capture_output=True, text=True, check=False
    )
    assert installed.returncode == 0, installed.stderr
    return (folder / "made").rename(folder / "moved")


def ran(folder: Path, *words: object) -> str:
    done = subprocess.run(
        list(map(str, words)),
        cwd=folder,
        env=BARE | {"HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_refers_to_the_checkout(root: Path, prefix: Path) -> None:
    found = subprocess.run(
        ["grep", "-rlI", "--", str(root), prefix], capture_output=True, text=True, check=False
    )
    assert found.stdout == ""
    dangling = [link for link in prefix.rglob("*") if link.is_symlink() and not link.exists()]
    assert dangling == []


def test_a_program_goes_from_source_to_an_adapted_binary(
    root: Path, prefix: Path, tmp_path: Path
) -> None:
    kadence, compiler = prefix / "bin/kadence", prefix / "bin/kadence-cc"
    shutil.copy(root / "examples/heat/heat.c", tmp_path)
    ran(tmp_path, compiler, "-O2", "-o", "heat", "heat.c", "-lm")
    ran(tmp_path, kadence, "profile", "-o", "heat.kprof", "--", "./heat", "-s", "200", "-e", "20")
    assert "./heat" in ran(tmp_path, kadence, "profile", "show", "heat.kprof")
    ran(tmp_path, kadence, "phases", "heat.kprof", "-o", "heat.phases.json")
    ran(tmp_path, kadence, "plan", "heat.phases.json", "-o", "heat.plan.json")
    assert json.loads((tmp_path / "heat.plan.json").read_text())["kadence"] == VERSION
    adapting = ["env", "KADENCE_PLAN=heat.plan.json", compiler, "-O2", "-o", "adapted"]
    ran(tmp_path, *adapting, "heat.c", "-lm")
    plain, adapted = (
        ran(tmp_path, name, "-s", "200", "-e", "20") for name in ("./heat", "./adapted")
    )
    assert adapted == plain


def test_lmod_finds_the_commands(prefix: Path, tmp_path: Path) -> None:
    script = (
        f". {LMOD}; module use {prefix}/share/modulefiles; module load kadence; type -P kadence"
    )
    assert ran(tmp_path, "bash", "-c", script).strip() == f"{prefix}/bin/kadence"
    script = f". {LMOD}; module use {prefix}/share/modulefiles; module -t avail kadence"
    told = subprocess.run(
        ["bash", "-c", script], env=BARE, capture_output=True, text=True, check=True
    )
    assert f"kadence/{VERSION}" in told.stdout + told.stderr
