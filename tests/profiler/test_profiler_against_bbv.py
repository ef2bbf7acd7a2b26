# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares vectors with those of Valgrind's exp-bbv, row by row."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kadence.base import resources
from kadence.profiler import kprof
from kadence.profiler.format.profile import Profile

INTERVAL = 100_000
TOLERANCE = 0.001
VALGRIND_TOOLS = Path("/usr/libexec/valgrind")

Vector = dict[int, float]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One environment for both tools: even its length changes the profiled program's start-up."""
    tools = tmp_path / "build" / "profiler" / "valgrind"
    tools.mkdir(parents=True)
    for file in resources.built("profiler/valgrind/kbbv-amd64-linux").parent.iterdir():
        (tools / file.name).symlink_to(file.resolve())
    (tools / "exp-bbv-amd64-linux").symlink_to(VALGRIND_TOOLS / "exp-bbv-amd64-linux")
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return kept | {"KADENCE_HOME": str(tmp_path), "VALGRIND_LIB": str(tools)}


def ours(binary: Path, directory: Path, environment: dict[str, str]) -> Profile:
    output = directory / "P.kprof"
    command = [Path(sys.executable).parent / "kadence", "profile", "-o", output]
    subprocess.run(
        [*command, "--interval", str(INTERVAL), "--", binary],
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    return kprof.read(output)


def theirs(binary: Path, directory: Path, environment: dict[str, str]) -> list[Vector]:
    vectors, addresses = directory / "bb", directory / "pc"
    subprocess.run(
        [
            *("valgrind", "--tool=exp-bbv", "--command-line-only=yes", "-q", "--vgdb=no"),
            *("--vex-guest-chase=no", "--vex-iropt-unroll-thresh=0"),
            *(f"--interval-size={INTERVAL}", f"--bb-out-file={vectors}"),
            *(f"--pc-out-file={addresses}", binary),
        ],
        check=True,
        env=environment,
        capture_output=True,
    )
    lines = (line.split(":") for line in addresses.read_text(encoding="utf-8").splitlines())
    address_of = {int(number): int(address, 16) for _kind, number, address, *_name in lines}
    return [
        {address_of[int(number)]: int(count) for number, count in re.findall(r":(\d+):(\d+)", line)}
        for line in vectors.read_text(encoding="utf-8").splitlines()
        if line.startswith("T")
    ]


def row(profile: Profile, index: int) -> Vector:
    vector: Vector = {}
    ran = profile.vectors[[index]]
    for block, instructions in zip(ran.indices, ran.data, strict=True):
        address = profile.blocks[block].address
        vector[address] = vector.get(address, 0) + instructions
    return vector


def distance(one: Vector, other: Vector) -> float:
    whole_one, whole_other = sum(one.values()), sum(other.values())
    return sum(
        abs(one.get(address, 0) / whole_one - other.get(address, 0) / whole_other)
        for address in one.keys() | other.keys()
    )


@pytest.mark.parametrize("flags", [("-O0", "-static"), ("-O2", "-static")])
def test_distance_to_exp_bbv(
    program: Callable[..., Path],
    environment: dict[str, str],
    tmp_path: Path,
    flags: tuple[str, ...],
) -> None:
    binary = program("mixture.c", *flags)
    profile = ours(binary, tmp_path, environment)
    reference = theirs(binary, tmp_path, environment)
    # exp-bbv leaves out the last, unfinished interval.
    assert len(reference) == len(profile.instructions) - 1
    distances = [distance(row(profile, i), reference[i]) for i in range(len(reference))]
    print(f"{len(distances)} rows, median {np.median(distances):.6f}, most {max(distances):.6f}")
    assert max(distances) < TOLERANCE
