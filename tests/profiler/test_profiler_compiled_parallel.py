# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of several ranks, and of several translation units, count themselves."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from compiled_programs import PROGRAMS, build, build_plain, counts, entries, profile_of, run
from patience import PATIENCE_SECONDS

from kadence.base.resources import built
from kadence.profiler import kprof
from kadence.profiler.format.profile import Profile

RANKS = 4


def steps(profile: Profile, thread: int) -> int:
    """How often a thread called step()."""
    entry = [block.function == "step" and block.entry for block in profile.blocks]
    return int(profile.counts[profile.thread == thread][:, entry].sum())


@pytest.fixture
def ranks(tmp_path: Path) -> list[Path]:
    """The profiles that the ranks of one run wrote; %r in the name gives each its own."""
    program = tmp_path / "ranks"
    compiler = {"OMPI_CC": str(built("bin/kadence-cc")), "KADENCE_MODE": "profile"}
    source = PROGRAMS / "ranks.c"
    command = ["mpicc", "-O2", source, "-o", program]
    subprocess.run(command, env=os.environ | compiler, check=True)
    words = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(RANKS), program]
    name = {"KADENCE_PROFILE_OUTPUT": str(tmp_path / "%r.kprof")}
    ran = subprocess.run(
        words,
        env=os.environ | name,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert ran.returncode == 0, ran.stderr
    expected = sum(
        number if number % 7 else -number
        for rank in range(RANKS)
        for number in range(1000 * (rank + 1))
    )
    assert ran.stdout == f"{expected}\n"
    return [tmp_path / f"{rank}.kprof" for rank in range(RANKS)]


def test_each_rank_of_an_mpi_program_counts_for_itself(
    ranks: list[Path], tmp_path: Path, kadence: Callable[..., Any]
) -> None:
    for rank, path in enumerate(ranks):
        assert steps(kprof.read(path), 1) == 1000 * (rank + 1)

    merged = kadence("profile", "merge", *ranks, "-o", tmp_path / "all.kprof")
    assert merged.returncode == 0, merged.stderr
    whole = kprof.read(tmp_path / "all.kprof")
    # The MPI library's own threads execute no code of the program.
    first_of_rank = sorted(set(whole.thread.tolist()))
    assert [steps(whole, thread) for thread in first_of_rank] == [1000, 2000, 3000, 4000]
    assert whole.facts.processes == RANKS
    assert whole.backend == "compiled"


@pytest.mark.parametrize("mode", ["fast", "exact"])
def test_builds_with_link_time_optimisation_count_the_same(tmp_path: Path, mode: str) -> None:
    """The profile build switches it off and keeps the other options."""
    found = []
    for name, options in {"without": [], "with": ["-flto", "-fuse-linker-plugin"]}.items():
        directory = tmp_path / name
        directory.mkdir()
        program = build(directory, "flow.c", "-O2", *options, mode=mode)
        assert run(program).stdout == run(build_plain(directory, "flow.c", "-O2")).stdout
        found.append(counts(profile_of(program)))
    assert found[0] == found[1]


def test_units_compiled_and_linked_apart_with_link_time_optimisation(tmp_path: Path) -> None:
    compiler = built("bin/kadence-cc")
    calling = "int other(int);\nint main(void)\n{\n\treturn other(3) + other(4) != 14;\n}\n"
    other = "static int twice(int n) { return 2 * n; }\nint other(int n) { return twice(n); }\n"
    profiling = os.environ | {"KADENCE_MODE": "profile"}
    objects = []
    for name, text in {"calling.c": calling, "other.c": other}.items():
        (tmp_path / name).write_text(text)
        objects.append(tmp_path / f"{name}.o")
        command = [compiler, "-O2", "-flto=2", "-c", tmp_path / name, "-o", objects[-1]]
        subprocess.run(command, env=profiling, check=True)
    program = tmp_path / "program"
    link = [compiler, "-O2", "-flto=2", *objects, "-o", program]
    subprocess.run(link, env=profiling, check=True)
    run(program)
    profile = profile_of(program)
    assert [entries(profile, name) for name in ("main", "other", "twice")] == [1, 2, 2]
