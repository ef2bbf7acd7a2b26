# SPDX-License-Identifier: GPL-2.0-or-later
"""An adapted OpenMP program with two threads leaves the same output on each target as here."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.kernel

PROGRAM = ["./heat-openmp", "-s", "600", "-e", "60"]
THREADS = {"OMP_NUM_THREADS": "2"}
# tmpfs can reserve space. The file system that shows the host's files cannot: it gets no rings.
ON_TMPFS = (
    "mount -t tmpfs none /mnt && "
    f"{' '.join(PROGRAM)} -o /mnt/checkpoint && cp /mnt/checkpoint heat.checkpoint"
)
KERNELS = {"um": "generic_kernel", "x86_64": "sockets_kernel_x86_64"}


def build(root: Path, folder: Path, environment: dict[str, str]) -> None:
    """Compile the example with the wrapper, as its makefile says."""
    shutil.copytree(root / "examples/heat-openmp", folder)
    compiler = root / "build/bin/kadence-cc"
    subprocess.run(["make", f"CC={compiler}"], cwd=folder, env=environment, check=True)


@pytest.fixture(scope="session")
def built(
    root: Path, kadence: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """The plain build and the adapted one, from the profile of a run with two threads."""
    folder = tmp_path_factory.mktemp("openmp")
    environment = dict(os.environ) | THREADS
    folders = {mode: folder / mode for mode in ("plain", "adapted")}
    build(root, folders["plain"], environment)
    suffixes = ("kprof", "phases.json", "plan.json")
    profile, phases, plan = (folder / f"heat.{suffix}" for suffix in suffixes)
    words = ["profile", "--interval", "1000000", "-o", profile, "--", *PROGRAM]
    for step in (words, ["phases", profile, "-o", phases], ["plan", phases, "-o", plan]):
        done = kadence(*step, cwd=folders["plain"], env=environment)
        assert done.returncode == 0, done.stderr
    build(root, folders["adapted"], environment | {"KADENCE_PLAN": str(plan)})
    return folders


@pytest.fixture(params=["um", pytest.param("x86_64", marks=pytest.mark.full)])
def kernel(request: pytest.FixtureRequest) -> Any:
    """A kernel of each target that has the device."""
    return request.getfixturevalue(KERNELS[request.param])


def test_adapted_program_leaves_what_it_leaves_here(
    kadence: Callable[..., Any], built: dict[str, Path], kernel: Any
) -> None:
    here = subprocess.run(
        PROGRAM, cwd=built["plain"], env=dict(os.environ) | THREADS, capture_output=True, check=True
    )
    counters = built["adapted"] / f"{kernel.target}-counters"
    environment = dict(os.environ) | THREADS | {"KADAPT_COUNTERS": str(counters)}
    words = ["run", "--target", kernel.target, "--kernel", kernel.id, "--mem", "512M", "--"]
    command = ["/bin/sh", "-c", ON_TMPFS]
    there = kadence(
        *words, *command, cwd=built["adapted"], env=environment, text=False, timeout=1200
    )
    assert there.returncode == 0, there.stderr
    assert there.stdout == here.stdout
    checkpoint = (built["plain"] / "heat.checkpoint").read_bytes()
    assert (built["adapted"] / "heat.checkpoint").read_bytes() == checkpoint
    counted = json.loads(counters.read_text())
    assert counted["memory"]["blocks"] > 0, counted
    assert counted["io"]["appends"] > 1000, counted
