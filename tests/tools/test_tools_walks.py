# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/walks.md: its first walk is applied as it stands, and its paths exist."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

FOLDERS = ("base", "boot", "gccplugin", "kadapt", "kadence", "kconfig-gen", "phases", "profiler")
FOLDERS += ("slurm",)
BLOCK = re.compile(r"^   ```(\w+) ?(\S*)\n(.*?)^   ```$", re.MULTILINE | re.DOTALL)
PLACE = re.compile(r"`((?:\w[\w-]*/)+[\w.-]*)`")


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs/walks.md").read_text(encoding="utf-8")


def copied(root: Path, place: Path) -> Path:
    """A copy of the sources, and links to them that form the package."""
    for folder in FOLDERS:
        listed = subprocess.run(
            ["git", "ls-files", folder], cwd=root, capture_output=True, text=True, check=True
        )
        for name in listed.stdout.split():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, place / name)
    package = place / "package" / "kadence"
    package.mkdir(parents=True)
    for entry in (place / "kadence").iterdir():
        (package / entry.name).symlink_to(entry)
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    for name, folder in re.findall(r'^"kadence\.([a-z]+)" = "(.+)"$', text, re.MULTILINE):
        (package / name).symlink_to(place / folder)
    return package.parent


def apply(page: str, place: Path) -> str:
    """Apply the blocks of the first walk in order; returns the last block, a command."""
    command = ""
    for kind, name, indented in BLOCK.findall(page):
        text = re.sub("^   ", "", indented, flags=re.MULTILINE)
        if kind == "python":
            (place / name).write_text(text, encoding="utf-8")
        elif kind == "diff":
            patch = ["patch", "-p1", "--no-backup-if-mismatch", "--fuzz=0"]
            subprocess.run(patch, cwd=place, input=text, text=True, check=True)
        else:
            command = text
    return command


def test_the_walk_to_a_picture(page: str, root: Path, tmp_path: Path) -> None:
    package = copied(root, tmp_path)
    command = apply(page, tmp_path).split()
    program = tmp_path / "program.c"
    program.write_text(
        "volatile long sum; int main(void) { for (long i = 0; i < 9000000; i++) sum += i; }\n"
    )
    subprocess.run(["gcc-12", "-O1", "-o", "heat", program], cwd=tmp_path, check=True)
    environment = os.environ | {"PYTHONPATH": str(package), "KADENCE_HOME": str(root)}
    kadence = [
        sys.executable,
        "-P",
        "-c",
        "import sys; from kadence.cli import main; sys.exit(main())",
    ]
    for words in (
        ["profile", "-o", "heat.kprof", "--", "./heat"],
        ["phases", "heat.kprof", "-o", "heat.phases.json"],
        command[1:],
    ):
        subprocess.run([*kadence, *words], cwd=tmp_path, env=environment, check=True)
    with Image.open(tmp_path / "stays.png") as picture:
        assert picture.width > 100


def test_every_place_that_the_walks_name_exists(page: str, root: Path) -> None:
    made = {name for kind, name, _ in BLOCK.findall(page) if kind == "python"}
    named = set(PLACE.findall(page)) - made
    assert len(named) > 20
    missing = [name for name in named if not (root / name).exists()]
    assert [name for name in missing if "TARGET" not in name] == []
