# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs built in profile mode write their profiles, however they run and end."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiled_programs import (
    build,
    build_opener,
    build_plain,
    counts,
    entries,
    profile_of,
    run,
)
from patience import PATIENCE_SECONDS

from kadence.base.errors import ToolError, UsageError
from kadence.base.resources import built
from kadence.profiler import kprof
from kadence.profiler.format.profile import Profile
from kadence.profiler.run import compiled

STEPS_OF_THREADS = 4000
STEPS_OF_CHILD = 500
LONG_LOOP = 200_000_000
FINEST, MOST_ROWS = 1_000_000, 1000  # of fitted intervals


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that ends in many ways."""
    return build(tmp_path_factory.mktemp("ways"), "ways.c", "-O2", "-pthread")


@pytest.mark.parametrize("mode", ["fast", "exact"])
@pytest.mark.parametrize(
    ("source", "options", "calls"),
    [
        ("flow.c", ["-O2"], {"fibonacci": 1973, "classify": 40, "leap": 120, "main": 1}),
        ("flow.c", ["-O3", "-march=native"], {"fibonacci": 1973, "nested": 1}),
        ("thrown.cc", ["-O2"], {"_ZN12_GLOBAL__N_118throw_now_and_thenEi": 50}),
        ("columns.f90", ["-O2"], {"MAIN__": 1}),
    ],
)
def test_calls_are_counted_and_output_is_the_same(
    tmp_path: Path, source: str, options: list[str], calls: dict[str, int], mode: str
) -> None:
    program = build(tmp_path, source, *options, mode=mode)

    assert run(program).stdout == run(build_plain(tmp_path, source, *options)).stdout
    profile = profile_of(program)
    assert {function: entries(profile, function) for function in calls} == calls


@pytest.mark.parametrize("level", ["-O2", "-O3"])
@pytest.mark.parametrize("source", ["columns.f90", "team.c", "flow.c", "thrown.cc"])
def test_fast_mode_finds_what_exact_mode_finds(tmp_path: Path, source: str, level: str) -> None:
    vectors = []
    for mode in ("fast", "exact"):
        program = build(tmp_path, source, level, "-fopenmp", mode=mode)
        run(program)
        vectors.append(_instructions(profile_of(program)))
    fast, exact = ({b: n / sum(v.values()) for b, n in v.items()} for v in vectors)
    assert sum(abs(fast.get(b, 0) - exact.get(b, 0)) for b in {*fast, *exact}) < 0.01


@pytest.mark.parametrize("options", [["-O1"], ["-O2"], ["-O3", "-march=native"]], ids=" ".join)
def test_loops_cut_into_strips_have_all_their_rounds(tmp_path: Path, options: list[str]) -> None:
    plain = build_plain(tmp_path, "strips.c", *options)
    found = []
    for mode in ("fast", "exact"):
        program = build(tmp_path, "strips.c", *options, "-fchecking=1", mode=mode)
        assert run(program).stdout == run(plain).stdout
        found.append(counts(profile_of(program)))
    assert found[0] == found[1]
    assert found[0].total() > 15_000_000


def test_a_long_loop_is_seen_while_it_runs(tmp_path: Path) -> None:
    program = build(tmp_path, "strips.c", "-O2")
    run(program, "long")

    profile = profile_of(program)
    for function, rounds in (("chained", LONG_LOOP), ("chained_until", LONG_LOOP)):
        inside = [block.function == function for block in profile.blocks]
        counts = profile.counts.tocsc()[:, np.flatnonzero(inside)]
        most = counts[:, [int(counts.sum(axis=0).argmax())]].toarray().ravel()
        assert rounds <= most.sum() <= rounds + 1
        assert np.count_nonzero(most) > 10
        assert most.max() < rounds / 2


def _instructions(profile: Profile) -> dict[tuple[str, str, int | None], int]:
    length = {(b.function, b.checksum, b.index): b.instructions for b in profile.blocks}
    return {block: count * length[block] for block, count in counts(profile).items()}


@pytest.mark.parametrize("source", ["machine.c", "lanes.c"])
def test_blocks_weigh_about_what_they_execute(
    tmp_path: Path, profiled: Callable[..., Profile], source: str
) -> None:
    """A switch does not weigh one comparison per case, nor a vector intrinsic a call."""
    counted = profile_of_run(build(tmp_path, source, "-O2"))
    executed = profiled(build_plain(tmp_path, source, "-O2"))

    assert 0.5 < counted.instructions.sum() / executed.instructions.sum() < 2


def test_blocks_bear_the_names_that_adapted_programs_know(tmp_path: Path) -> None:
    profile = profile_of_run(build(tmp_path, "flow.c", "-O2"))

    known = {function.name: function.cfg_checksum for function in profile.functions}
    assert all(known[block.function] == block.checksum for block in profile.blocks)
    assert profile.backend == "compiled"
    assert profile.unit == "nanoseconds"
    assert profile.facts.complete


def profile_of_run(program: Path, *arguments: str) -> Profile:
    """Run the program and read its profile."""
    run(program, *arguments)
    return profile_of(program)


@pytest.mark.parametrize("linked", [[], ["-static"]], ids=["dynamic", "static"])
def test_threads_have_rows_of_their_own(tmp_path: Path, linked: list[str]) -> None:
    profile = profile_of_run(build(tmp_path, "ways.c", "-O2", "-pthread", *linked), "threads")

    assert profile.facts.threads == 5
    assert set(profile.thread) == {1, 2, 3, 4, 5}
    assert entries(profile, "step") == STEPS_OF_THREADS
    step = [b.function == "step" for b in profile.blocks]
    of_thread = profile.counts.tocsc()[:, np.flatnonzero(step)].sum(axis=1)
    assert all(of_thread[profile.thread == number].sum() == 1000 for number in (2, 3, 4, 5))


def test_teams_of_openmp_are_counted(tmp_path: Path) -> None:
    program = build(tmp_path, "team.c", "-O2", "-fopenmp")

    assert run(program).stdout == run(build_plain(tmp_path, "team.c", "-O2", "-fopenmp")).stdout
    assert entries(profile_of(program), "work") == 3000
    assert profile_of(program).facts.threads == 3


def test_a_child_has_a_profile_of_its_own(ways: Path) -> None:
    parent = profile_of_run(ways, "fork")

    (beside,) = ways.parent.glob(f"{ways.name}.kprof.*")
    child = kprof.read(beside)
    beside.unlink()
    assert entries(parent, "step") == 0
    assert entries(child, "step") == STEPS_OF_CHILD
    assert entries(child, "main") == 0
    assert child.facts.complete


@pytest.mark.parametrize("way", ["exec", "_exit", "handler", ""])
def test_nothing_is_lost_at_the_end(ways: Path, way: str) -> None:
    profile = profile_of_run(ways, way)

    assert entries(profile, "main") == 1
    assert entries(profile, "step") == (way == "handler")
    assert profile.facts.complete


def test_a_killed_program_leaves_its_whole_intervals(ways: Path) -> None:
    run(ways, "kill", status=-9)

    profile = profile_of(ways)
    assert not profile.facts.complete
    assert entries(profile, "main") == 1
    assert len(profile.instructions) > 1


def test_intervals_fit_the_run(ways: Path) -> None:
    """The program computes for twice as many finest intervals as a profile may have rows."""
    calls = int(run(ways, "long").stdout)

    profile = profile_of(ways)
    assert profile.unit == "nanoseconds"
    assert profile.interval % FINEST == 0
    assert (profile.interval // FINEST).bit_count() == 1
    assert profile.interval > FINEST
    assert 2 < len(profile.instructions) <= MOST_ROWS
    assert entries(profile, "step") == calls


@pytest.mark.parametrize(
    ("chosen", "interval"),
    [("20000000", 20_000_000), ("20ms", 20_000_000), ("1", 100_000), ("fast", FINEST)],
)
def test_an_interval_of_time_can_be_chosen(ways: Path, chosen: str, interval: int) -> None:
    run(ways, KADENCE_PROFILE_INTERVAL=chosen)

    assert (profile_of(ways).interval, profile_of(ways).unit) == (interval, "nanoseconds")


def test_an_interval_of_instructions_ends_at_its_multiples(
    ways: Path, tmp_path: Path, kadence: Callable[..., Any]
) -> None:
    completed = kadence(
        "profile", "--interval", 5_000_000, "-o", tmp_path / "P.kprof", "--", ways, "compute"
    )

    assert completed.returncode == 0
    profile = kprof.read(tmp_path / "P.kprof")
    assert (profile.interval, profile.unit) == (5_000_000, "instructions")
    assert profile.command[:4] == ("kadence", "profile", "--interval", "5000000")
    ends = np.cumsum(profile.instructions)
    assert len(ends) > 2
    # No row ends before a multiple, and no two rows end before the next multiple.
    assert (np.diff(ends[:-1] // profile.interval, prepend=0) >= 1).all()
    assert profile.start.tolist() == [0, *ends[:-1].tolist()]


def test_threads_have_instructions_of_their_own(ways: Path) -> None:
    profile = profile_of_run(ways, "threads")
    run(ways, "threads", KADENCE_PROFILE_INTERVAL="1000000i")

    assert counts(profile_of(ways)) == counts(profile)
    assert set(profile_of(ways).thread) == {1, 2, 3, 4, 5}


def test_an_interval_that_makes_no_sense_is_refused(ways: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least 100000"):
        compiled.profile([str(ways)], tmp_path / "P.kprof", 99_999)


@pytest.mark.parametrize("linked", [[], ["-static"]], ids=["dynamic", "static"])
def test_under_valgrind_the_run_is_one_interval(tmp_path: Path, linked: list[str]) -> None:
    """Valgrind ends a program that calls clone() for a thread, as the row timer does."""
    program = build(tmp_path, "ways.c", "-O2", "-pthread", *linked)
    output = {"KADENCE_PROFILE_OUTPUT": f"{program}.kprof"}
    subprocess.run(
        ["valgrind", "-q", "--tool=none", program, "threads"],
        env=os.environ | output,
        check=True,
        timeout=PATIENCE_SECONDS,
    )

    profile = profile_of(program)
    assert profile.facts.complete
    assert entries(profile, "step") == STEPS_OF_THREADS
    assert sorted(profile.thread.tolist()) == [1, 2, 3, 4, 5]


def test_a_static_fortran_program_ends_as_the_plain_one(tmp_path: Path) -> None:
    """libgfortran closes files with pthread functions if it believes that they are linked in."""
    source = tmp_path / "says.f90"
    source.write_text('print *, "said"\nend\n')
    program = tmp_path / "says"
    subprocess.run(
        [built("bin/kadence-fc"), "-static", "-O2", "-o", program, source],
        env=os.environ | {"KADENCE_MODE": "profile"},
        check=True,
    )
    output = {"KADENCE_PROFILE_OUTPUT": f"{program}.kprof"}
    ran = subprocess.run([program], env=os.environ | output, capture_output=True, check=True)
    assert ran.stdout == b" said\n"
    assert profile_of(program).facts.complete


def test_a_library_that_is_opened_and_closed_is_counted(tmp_path: Path) -> None:
    library = build(tmp_path, "team.c", "-O2", "-shared", "-fPIC", "-Dmain=called")
    program = build_opener(tmp_path)

    assert entries(profile_of_run(program, str(library)), "work") == 3000


def test_ranks_and_processes_are_in_the_name(ways: Path, tmp_path: Path) -> None:
    run(
        ways,
        KADENCE_PROFILE_OUTPUT=str(tmp_path / "100%%-%r-%p.kprof"),
        OMPI_COMM_WORLD_RANK="7",
    )

    (found,) = tmp_path.glob("100%-7-*.kprof")
    assert entries(kprof.read(found), "main") == 1


def test_it_runs_where_no_profile_can_be_written(ways: Path) -> None:
    completed = run(ways, KADENCE_PROFILE_OUTPUT="/nowhere/at/all.kprof")

    assert completed.stdout == completed.stderr == ""
    assert not Path("/nowhere").exists()


def test_profile_takes_what_the_program_counts(
    ways: Path, tmp_path: Path, kadence: Callable[..., Any]
) -> None:
    completed = kadence("profile", "-o", tmp_path / "P.kprof", "--", ways, "threads")

    assert completed.returncode == 0
    assert "counted its blocks itself" in completed.stderr
    profile = kprof.read(tmp_path / "P.kprof")
    assert profile.backend == "compiled"
    assert entries(profile, "step") == STEPS_OF_THREADS


def test_a_program_that_cannot_start_leaves_an_older_profile(tmp_path: Path) -> None:
    library = tmp_path / "libgone.so"
    subprocess.run(["gcc-12", "-shared", "-o", library, "-x", "c", "/dev/null"], check=True)
    needs_it = ["-Wl,--no-as-needed", f"-L{tmp_path}", "-lgone"]
    program = build(tmp_path, "flow.c", "-O2", *needs_it)
    library.unlink()
    older = tmp_path / "flow.kprof"
    older.write_bytes(b"older")

    with pytest.raises(ToolError, match="left no profile"):
        compiled.profile([str(program)], older)
    assert older.read_bytes() == b"older"


def test_an_unknown_way_to_count_is_refused(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        build(tmp_path, "team.c", mode="slow")
