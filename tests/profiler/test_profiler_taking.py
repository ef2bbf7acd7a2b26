# SPDX-License-Identifier: GPL-2.0-or-later
"""For a command that starts other programs, the profile is that of the one doing the work."""

import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE_SECONDS

from kadence.profiler import kprof
from kadence.profiler.format import cfgsection
from kadence.profiler.format.profile import Profile

Compile = Callable[..., Path]
Kadence = Callable[..., Any]
Refused = Callable[..., str]
ByFunction = Callable[[Profile], dict[str, int]]

MILLION = 1_000_000


@pytest.fixture
def worker(program: Compile) -> Path:
    return program("worker.c")


@pytest.fixture
def told(kadence: Kadence, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Profile a command and return the JSON that `kadence profile` prints about the run."""

    def run(*command: object, options: tuple[str, ...] = ()) -> dict[str, Any]:
        output = tmp_path / "P.kprof"
        done = kadence("profile", "--json", *options, "-o", output, "--", *command, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stderr.splitlines()[-1])
        return found

    return run


@pytest.fixture
def wrapped(tmp_path: Path, worker: Path) -> Callable[[str], list[object]]:
    """Command lines that make the worker execute five million instructions."""
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\ndate >/dev/null\n{worker} 5\nls | wc -l >/dev/null\n")
    script.chmod(0o755)
    ways: dict[str, list[object]] = {
        "env": ["env", "WORK=1", worker, "5"],
        "shell": ["sh", script],
        "script": [script],
        "exec": ["sh", "-c", f"exec {worker} 5"],
        "nested": ["env", "A=1", "sh", "-c", f"env B=1 {worker} 5; true"],
    }
    return lambda way: ways[way]


@pytest.mark.parametrize("way", ["env", "shell", "script", "exec", "nested"])
def test_the_program_behind_a_wrapper_is_profiled(
    told: Any, wrapped: Any, worker: Path, tmp_path: Path, by_function: ByFunction, way: str
) -> None:
    said = told(*wrapped(way))
    profile = kprof.read(tmp_path / "P.kprof")
    assert abs(by_function(profile)["work"] - 5 * MILLION) < 100
    assert profile.build_id == cfgsection.read(worker)[0]
    assert Path(profile.argv[0]).name == worker.name
    (note,) = said["notes"]
    assert note.startswith(f"profiled {profile.argv[0]} (process {said['process']}, ")
    assert note.endswith(f"started by {wrapped(way)[0]}")


def test_the_wrappers_profile_is_beside_it(told: Any, worker: Path, tmp_path: Path) -> None:
    said = told("env", "WORK=1", worker, "5")
    (wrapper,) = said["children"]
    assert wrapper["profile"] == str(tmp_path / f"P.{wrapper['process']}.kprof")
    kept = kprof.read(Path(wrapper["profile"]))
    assert kept.argv == ("env", "WORK=1", str(worker), "5")
    assert len(list(tmp_path.glob("P*.kprof"))) == 2


def test_what_the_others_asked_of_the_kernel_is_kept(
    told: Any, worker: Path, tmp_path: Path
) -> None:
    told("sh", "-c", f"{worker} 5; sleep 0.01")
    facts = kprof.read(tmp_path / "P.kprof").facts
    assert "clock_nanosleep" in facts.others_system_calls
    assert facts.others_socket_families == ()


def test_a_program_that_starts_trivial_ones_is_taken_itself(
    told: Any, tmp_path: Path, program: Compile
) -> None:
    said = told(program("worker.c"), "0", "3", "5")
    assert said["notes"] == []
    assert said["ranks"] == []
    assert kprof.read(tmp_path / "P.kprof").argv[1:] == ("0", "3", "5")


@pytest.mark.parametrize("own", [0, 5])
def test_processes_with_comparable_work_are_ranks(
    told: Any, kadence: Kadence, worker: Path, tmp_path: Path, own: int
) -> None:
    said = told(worker, 5, 3, own)
    ranks = [Path(path) for path in said["ranks"]]
    number = 3 if own else 2
    assert len(ranks) == number
    assert any(
        f"{number + 1} processes of {worker} did comparable work" in n for n in said["notes"]
    )
    phases = tmp_path / "phases.json"
    done = kadence("phases", tmp_path / "P.kprof", *ranks, "-o", phases)
    assert done.returncode == 0, done.stderr
    found = json.loads(phases.read_text())
    assert abs(sum(found["instructions"]) - (number + 1) * 5 * MILLION) < MILLION
    assert found["concurrency"]["processes"] == (4 if own else 3)


def test_of_different_programs_the_largest_is_taken_and_the_others_are_named(
    told: Any, worker: Path, tmp_path: Path
) -> None:
    other = shutil.copy(worker, tmp_path / "other")
    said = told("sh", "-c", f"{worker} 6 & {other} 3 & wait")
    assert Path(kprof.read(tmp_path / "P.kprof").argv[0]).name == worker.name
    (note,) = (note for note in said["notes"] if "comparable" in note)
    assert f"{other} (3" in note
    assert "--program" in note


def test_the_user_chooses_by_name(told: Any, worker: Path, tmp_path: Path) -> None:
    other = shutil.copy(worker, tmp_path / "other")
    said = told("sh", "-c", f"{worker} 6; {other} 3", options=("--program", "other"))
    assert said["program"] == [str(other), "3"]
    profile = kprof.read(tmp_path / "P.kprof")
    assert profile.argv == (str(other), "3")
    assert profile.command[:4] == ("kadence", "profile", "--program", "other")
    assert not [note for note in said["notes"] if "comparable" in note]


def test_a_name_that_did_not_run_is_refused(
    kadence: Kadence, refused: Refused, worker: Path, tmp_path: Path
) -> None:
    output = tmp_path / "P.kprof"
    done = kadence("profile", "--program", "heat", "-o", output, "--", "env", worker, "2")
    assert worker.name in refused(done)
    assert output.exists()


def test_a_program_that_the_command_names_is_meant(told: Any, worker: Path, tmp_path: Path) -> None:
    """The starter of the ranks of a short run executes more than the ranks do."""
    starter = shutil.copy(worker, tmp_path / "starter")
    script = f"{starter} 6; {worker} 4"
    said = told("sh", "-c", script, "sh", worker)
    assert said["program"] == [str(worker), "4"]


def let_through(gate: Path) -> None:
    """Open the other end as soon as the worker has opened its own, so that the worker ends."""
    for _ in range(int(PATIENCE_SECONDS)):
        with suppress(OSError):
            os.close(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
            return
        time.sleep(1)
    raise AssertionError("the worker never came to its gate")


def test_what_still_runs_is_not_taken_and_named(told: Any, worker: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    held = f"{worker} 300 0 0 {gate} >/dev/null 2>&1 & until ls P.*.kprof; do sleep 0.1; done"
    said = told("sh", "-c", held)
    let_through(gate)
    assert Path(said["program"][0]).name != worker.name
    assert any("still ran when the command ended" in note for note in said["notes"])


def test_ranks_under_mpirun_are_taken(
    told: Any, worker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    said = told("mpirun", "--oversubscribe", "-n", "2", worker, 100)
    assert [kprof.read(Path(path)).argv for path in said["ranks"]] == [(str(worker), "100")]
    assert kprof.read(tmp_path / "P.kprof").argv == (str(worker), "100")
