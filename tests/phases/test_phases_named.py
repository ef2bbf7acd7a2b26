# SPDX-License-Identifier: GPL-2.0-or-later
"""Markers of programs that counted themselves, placed by blocks' names and not by lines."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import three_phases
from scipy import sparse

from kadence.base.resources import built
from kadence.phases.mark.candidate import Candidate
from kadence.phases.mark.candidates import candidates
from kadence.profiler import kprof
from kadence.profiler.format import cfgsection
from kadence.profiler.format.profile import COMPILED, Block, Function, Loop, Profile

TESTS = Path(__file__).parents[1]
HEAT = TESTS.parent / "examples" / "heat" / "heat.c"
COUNTING = TESTS / "gccplugin" / "programs" / "count_stub.c"
WRITING_DOWN = Path(__file__).with_name("announced.c")
WRAPPERS = {".c": "kadence-cc", ".cc": "kadence-c++", ".f90": "kadence-fc"}
PLACES = 1024

# Checkpoints are as long as the steps between them, and cost the kernel nothing. Both last much
# longer than the reader of the counters may have to wait for a processor on a busy machine.
STEPS, CHECKPOINTS = 3600, 6
WORDS = (
    "-s",
    str(STEPS),
    "-e",
    str(STEPS // CHECKPOINTS),
    *["-g", "1", "-r", "128", "-o", "/dev/null"],
)

Kadence = Callable[..., subprocess.CompletedProcess[str]]


def build(source: Path, target: Path, *options: object, **environment: str) -> str:
    """Compile with the wrapper; returns the compiler's messages."""
    command = [built(f"bin/{WRAPPERS[source.suffix]}"), source, *options, "-lm", "-o", target]
    completed = subprocess.run(
        [str(word) for word in command],
        cwd=target.parent,
        env=os.environ | {"LC_ALL": "C"} | environment,
        capture_output=True,
        text=True,
    )
    assert completed.returncode == 0, completed.stderr
    return completed.stderr


def counted(source: Path, directory: Path, level: str, mode: str) -> list[Candidate]:
    """Build a program in profile mode and run it: the candidates for markers."""
    program, profile = directory / "counting", directory / "P.kprof"
    build(source, program, level, KADENCE_MODE="profile", KADENCE_PROFILE=mode)
    environment = os.environ | {"KADENCE_PROFILE_OUTPUT": str(profile)}
    subprocess.run([program], env=environment, check=True, stdout=subprocess.DEVNULL)
    return list(candidates(kprof.read(profile)))


def firings(program: Path) -> dict[int, int]:
    """Run a program with the counting stub: phase -> how often it was announced."""
    told = subprocess.run([program], capture_output=True, text=True, check=True).stderr.split()
    return {int(phase): int(count) for phase, _, count in (word.partition("=") for word in told)}


def plan_of(places: list[Candidate], path: Path) -> Path:
    """A plan with a phase for each place."""
    markers = [
        {"phase": phase, **{key: getattr(place, key) for key in MEMBERS}}
        for phase, place in enumerate(places)
    ]
    policies = [{"phase": phase, "quantum_ns": 0} for phase in range(len(places))]
    plan = {"schema": "kadence.plan", "version": 6, "policies": policies, "markers": markers}
    path.write_text(json.dumps(plan))
    return path


MEMBERS = ("kind", "function", "file", "loop", "cfg_checksum", "block")


@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
@pytest.mark.parametrize(
    ("program", "mode"),
    [
        ("gccplugin/programs/loops.c", "fast"),
        ("gccplugin/programs/classes.cc", "fast"),
        ("gccplugin/programs/modules.f90", "exact"),
        ("profiler/programs/compiled/flow.c", "exact"),
        ("profiler/programs/compiled/columns.f90", "fast"),
    ],
)
def test_every_place_fires_as_often_as_was_counted(
    tmp_path: Path, program: str, mode: str, level: str
) -> None:
    source = TESTS / program
    places = counted(source, tmp_path, level, mode)
    assert {place.kind for place in places} == {"function_entry", "loop_preheader"}

    stub = tmp_path / "stub.o"
    subprocess.run(["gcc-12", "-O2", f"-DPHASES={PLACES}", "-c", "-o", stub, COUNTING], check=True)
    plan = plan_of(places, tmp_path / "plan.json")
    assert build(source, tmp_path / "adapted", stub, level, KADENCE_PLAN=str(plan)) == ""
    assert len(places) < PLACES
    assert firings(tmp_path / "adapted") == {
        phase: int(place.fires.sum()) for phase, place in enumerate(places)
    }


@pytest.mark.parametrize("program", ["flow.c", "thrown.cc", "columns.f90"])
def test_functions_and_blocks_have_the_same_names_in_all_modes(
    tmp_path: Path, program: str
) -> None:
    source = TESTS / "profiler" / "programs" / "compiled" / program
    empty = plan_of([], tmp_path / "plan.json")
    modes: dict[str, dict[str, str]] = {
        "plain": {"KADENCE_MODE": "plain"},
        "fast": {"KADENCE_MODE": "profile"},
        "exact": {"KADENCE_MODE": "profile", "KADENCE_PROFILE": "exact"},
        "adapt": {"KADENCE_PLAN": str(empty)},
    }
    found = []
    for name, environment in modes.items():
        build(source, tmp_path / name, "-O2", "-c", **environment)
        found.append(cfgsection.read(tmp_path / name)[1])
    assert all(functions == found[0] for functions in found)
    assert any(loop.before for function in found[0] for loop in function.loops)


@dataclass(frozen=True)
class Heated:
    """The artefacts of examples/heat, and what the last command printed."""

    folder: Path
    said: str
    phases: dict[str, Any]
    plan: dict[str, Any]

    def adapted(self, source: Path) -> tuple[str, str]:
        """Build `source` with the plan and run it: compiler messages, announced phases."""
        program = self.folder / "adapted"
        plan = self.folder / "heat.plan.json"
        said = build(source, program, WRITING_DOWN, "-O2", KADENCE_PLAN=str(plan))
        ran = subprocess.run([program, *WORDS], capture_output=True, text=True, check=True)
        return said, ran.stderr


@pytest.fixture(scope="module")
def heated(tmp_path_factory: pytest.TempPathFactory, kadence: Kadence) -> Heated:
    """heat in profile mode, its phases, and its plan."""
    folder = tmp_path_factory.mktemp("heat")
    build(HEAT, folder / "heat", "-O2", KADENCE_MODE="profile")
    said = ""
    for command in (
        ["profile", "-o", "heat.kprof", "--", "./heat", *WORDS],
        ["phases", "heat.kprof", "-o", "heat.phases.json"],
        ["plan", "heat.phases.json", "-o", "heat.plan.json"],
    ):
        done = kadence(*command, cwd=folder)
        assert done.returncode == 0, done.stderr
        said = done.stdout
    read = [json.loads((folder / f"heat.{kind}.json").read_text()) for kind in ("phases", "plan")]
    return Heated(folder, said, *read)


def test_heat_is_announced_at_counted_blocks(heated: Heated) -> None:
    markers = {marker["function"]: marker for marker in heated.plan["markers"]}
    fires = {function: marker["expected_fires"] for function, marker in markers.items()}
    assert set(fires) == {"diffuse", "checkpoint"}
    # The count may include a block that the program was about to run when the counters were read.
    assert fires["diffuse"] - STEPS in (0, 1)
    assert fires["checkpoint"] - CHECKPOINTS in (0, 1)
    assert all(
        f"counted at block {marker['block']}" in marker["evidence"] for marker in markers.values()
    )

    said, announced = heated.adapted(HEAT)
    assert said == ""
    compute, storing = (str(markers[name]["phase"]) for name in ("diffuse", "checkpoint"))
    assert [phase for phase, _ in groupby(announced)] == [compute, storing] * CHECKPOINTS
    assert announced.count(compute) == STEPS
    assert announced.count(storing) == CHECKPOINTS


def test_only_the_function_that_changed_loses_its_marker(heated: Heated) -> None:
    text = HEAT.read_text()
    begin = "\tchar record[LONGEST_RECORD];\n\n\tfor (long row = 1; row"
    assert text.count(begin) == 1
    changed = heated.folder / "heat.c"
    changed.write_text(text.replace(begin, '\tif (step < 1)\n\t\tfail("a step");\n' + begin))

    said, announced = heated.adapted(changed)
    phases = {marker["function"]: marker["phase"] for marker in heated.plan["markers"]}
    skipped = re.findall(r"warning: the marker of phase (\d+) in function '(\w+)'", said)
    assert skipped == [(str(phases["checkpoint"]), "checkpoint")]
    assert "the function changed since the profile" in said
    assert announced == str(phases["diffuse"]) * STEPS


def test_a_plan_says_what_nobody_saw(
    heated: Heated, kadence: Kadence, refused: Callable[..., str]
) -> None:
    assert {phase["kind"] for phase in heated.phases["phases"]} == {"unseen"}
    assert {policy["name"] for policy in heated.plan["policies"]} == {"unseen"}
    assert heated.plan["needs"] is None
    for part in "io", "memory":
        assert heated.plan[part]["mode"] == "off"
        assert "the program counted itself" in heated.plan[part]["reason"]
    assert "system calls were not seen" in heated.plan["policies"][0]["evidence"]
    assert "no I/O paths: the program counted itself" in heated.said

    plan = heated.folder / "heat.plan.json"
    complaint = refused(kadence("kernel", "build", "--plan", plan))
    assert "profile of a plain build" in complaint


def by_hand(functions: tuple[Function, ...], blocks: tuple[Block, ...]) -> Profile:
    """A profile in which block n was entered n + 1 times."""
    planted = three_phases().profile()
    counts = sparse.csr_array(np.arange(1, len(blocks) + 1).reshape(1, -1))
    return replace(
        planted,
        backend=COMPILED,
        functions=functions,
        blocks=blocks,
        counts=counts,
        vectors=counts,
        instructions=np.array([counts.sum()]),
        thread=np.array([1], dtype=np.int32),
        start=np.array([0]),
    )


def block(function: str, file: str, checksum: str, index: int) -> Block:
    return Block(0, 1, function, file, 7, "/bin/p", index == 2, checksum, index)


def test_blocks_are_found_by_function_file_checksum_and_index() -> None:
    """Lines do not matter. Some functions are left out, for example if they begin with a loop."""
    functions = (
        Function("main", "a.c", 1, "aaaa0000", (Loop(0, 3, 1, 2), Loop(1, 4, 2, None)), 2),
        Function("step", "a.c", 20, "bbbb0000", (), 2),
        Function("step", "b.c", 30, "bbbb0000", (), 2),
        Function("stale", "b.c", 40, "cccc0000", (), 2),
        Function("turning", "b.c", 50, "dddd0000", (Loop(0, 51, 1, None),), None),
    )
    blocks = (
        block("main", "a.c", "aaaa0000", 2),
        block("main", "a.c", "aaaa0000", 3),
        block("step", "a.c", "bbbb0000", 2),
        block("step", "b.c", "bbbb0000", 2),
        block("stale", "b.c", "cccc1111", 2),
        block("turning", "b.c", "dddd0000", 2),
    )
    assert found(functions, blocks) == {
        ("main", "a.c", None): (2, 1),
        ("main", "a.c", 0): (2, 1),
        ("step", "a.c", None): (2, 3),
        ("step", "b.c", None): (2, 4),
    }


def found(functions: tuple[Function, ...], blocks: tuple[Block, ...]) -> dict[Any, Any]:
    """The candidates in a profile by_hand(): block and number of firings."""
    places = list(candidates(by_hand(functions, blocks)))
    assert all(place.exact for place in places)
    return {(one.function, one.file, one.loop): (one.block, one.fires.sum()) for one in places}


def test_a_block_of_which_nothing_is_left_is_counted_by_the_loop_behind_it() -> None:
    loops = (Loop(0, 3, 1, 2, 7, (6,)), Loop(1, 4, 2, 3, 5, (4,)))
    function = Function("walk", "a.c", 1, "aaaa0000", loops, 2)

    def left(*indices: int) -> tuple[Block, ...]:
        return tuple(block("walk", "a.c", "aaaa0000", index) for index in indices)

    # The blocks were entered 1, 2, 3, ... times, in this order.
    assert found((function,), left(4, 6, 7, 5)) == {
        ("walk", "a.c", None): (2, 3 - 2),
        ("walk", "a.c", 0): (2, 3 - 2),
        ("walk", "a.c", 1): (3, 4 - 1),
    }
    # Left out: a loop whose latch is lost, and a block before a loop whose own count differs from
    # the loop's, here 3 from 2 - 1, and 5 from 3 - 1.
    assert found((function,), left(4, 5, 3, 7)) == {}
    assert found((function,), left(6, 4, 7, 5, 2)) == {("walk", "a.c", 1): (3, 4 - 2)}
