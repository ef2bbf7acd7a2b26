# SPDX-License-Identifier: GPL-2.0-or-later
"""What `make build` leaves out: the error about a missing file names the target that makes it."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kadence.base import resources
from kadence.base.errors import ToolError

# The Makefile's lists, and the target that makes each.
LISTS = {
    "BUILD_TARGETS": "build",
    "LAB_TARGETS": "build-lab",
    "SLURM_TARGETS": "build-slurm",
    "EXAMPLE_TARGETS": "build-examples",
    "BENCH_TARGETS": "build-bench",
}


@pytest.fixture(scope="module")
def lists(root: Path) -> dict[str, list[str]]:
    """Files below build/ by list, as make sees them."""
    asked = "".join(f"$(info {name} $({name}))" for name in LISTS)
    said = subprocess.run(
        ["make", "-s", "--eval", f"ask:;@:{asked}", "ask"],
        cwd=root, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    words = [line.split() for line in said.splitlines()]
    return {name: [file.removeprefix("build/") for file in files] for name, *files in words}


def test_every_file_is_told_with_the_target_that_makes_it(lists: dict[str, list[str]]) -> None:
    assert set(lists) == set(LISTS)
    for name, files in lists.items():
        assert files
        assert {resources.target_of(file) for file in files} == {LISTS[name]}, name


def planned(root: Path, target: str) -> set[str]:
    """Files that the target makes in a checkout where only the packages are installed."""
    # -n runs the second make, too; its command line names the files.
    said = subprocess.run(
        ["make", "-n", "-B", "-o", "build/stamps/packages", target],
        cwd=root, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return {
        file.removeprefix("build/")
        for parts in re.findall(r"PARTS='(.*?)'", said)
        for file in parts.split()
    }


# The demo observes a guest's kernel.
NEEDED = {"build": ["BUILD_TARGETS"], "demo": ["BUILD_TARGETS", "LAB_TARGETS"]}


@pytest.mark.parametrize("target", NEEDED)
def test_nothing_is_built_before_it_is_asked_for(
    root: Path, lists: dict[str, list[str]], target: str
) -> None:
    needed = {file for name in NEEDED[target] for file in lists[name]}
    assert planned(root, target) == {*needed, "stamps/python"}


@pytest.mark.parametrize("target", ["test", "bench"])
def test_tests_and_benches_have_all_they_run(
    root: Path, lists: dict[str, list[str]], target: str
) -> None:
    wanted = {file for files in lists.values() for file in files}
    assert planned(root, target) >= wanted


def test_install_has_what_nodes_need(root: Path, lists: dict[str, list[str]]) -> None:
    wanted = {*lists["BUILD_TARGETS"], *lists["LAB_TARGETS"], *lists["SLURM_TARGETS"]}
    assert planned(root, "install") >= wanted


@pytest.mark.parametrize(
    ("file", "target"),
    [
        ("slurm/kadence.so", "build-slurm"),
        ("kadence/settle", "build-lab"),
        ("bench/lab/lab", "build-lab"),
        ("bench/quantum", "build-bench"),
        ("boot/init", "build"),
        ("kadence", "build"),
    ],
)
def test_a_missing_file_is_one_sentence(
    file: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KADENCE_HOME", str(tmp_path))
    (tmp_path / "Makefile").touch()
    with pytest.raises(ToolError) as raised:
        resources.built(file)
    missing = tmp_path / "build" / file
    assert str(raised.value) == f"{missing} is missing; run `make {target}` in {tmp_path}"


@pytest.mark.parametrize(
    ("file", "package"),
    [
        ("slurm/kadence-node", "kadence-slurm"),
        ("bin/kadence-cc", "kadence-compiler"),
        ("boot/init", "kadence"),
    ],
)
def test_an_installation_names_the_package(
    file: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KADENCE_HOME", str(tmp_path))
    with pytest.raises(ToolError, match=f"is missing; install package {package}, or "):
        resources.built(file)


def test_a_verb_asks_for_its_part_before_a_kernel_is_built(
    kadence: Callable[..., "subprocess.CompletedProcess[str]"],
    refused: Callable[["subprocess.CompletedProcess[str]"], str],
    tmp_path: Path,
) -> None:
    (tmp_path / "Makefile").touch()
    completed = kadence("lab", "--", "true", env=os.environ | {"KADENCE_HOME": str(tmp_path)})
    assert f"run `make build-lab` in {tmp_path}" in refused(completed)
