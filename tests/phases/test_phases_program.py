# SPDX-License-Identifier: GPL-2.0-or-later
"""A real program with three planted phases, profiled by the real profiler."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from kadence.base import resources

HERE = Path(__file__).parent
CYCLES, STEPS, RECORDS, MESSAGES = 6, 8, 1500, 12000  # as in planted.c


@dataclass(frozen=True)
class Found:
    """The program's folder, build options, phases and plan."""

    folder: Path
    definitions: list[str]
    phases: dict[str, Any]
    plan: dict[str, Any]

    def compile(self, *sources: str, **environment: str) -> None:
        """Build planted.c and other sources of this folder with the wrapper."""
        paths = [HERE / source for source in ("planted.c", *sources)]
        subprocess.run(
            [resources.built("bin/kadence-cc"), "-O2", "-g", *self.definitions, *paths]
            + ["-o", "planted"],
            cwd=self.folder,
            env=os.environ | environment,
            check=True,
        )


@pytest.fixture(scope="module", params=["inlined", "standing"])
def found(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    kadence: Callable[..., subprocess.CompletedProcess[str]],
) -> Found:
    """Phases and plan of the program, with its functions inlined or standing."""
    values = {
        "CYCLES": CYCLES,
        "STEPS": STEPS,
        "RECORDS": RECORDS,
        "MESSAGES": MESSAGES,
        "STANDING": "" if request.param == "inlined" else "__attribute__((noinline))",
    }
    definitions = [f"-D{name}={value}" for name, value in values.items()]
    found = Found(tmp_path_factory.mktemp(request.param), definitions, {}, {})
    found.compile()
    for command in (
        ["profile", "--interval", "500000", "-o", "p.kprof", "--", "./planted"],
        ["phases", "p.kprof", "-o", "p.phases.json"],
        ["plan", "p.phases.json", "-o", "p.plan.json"],
    ):
        done = kadence(*command, cwd=found.folder)
        assert done.returncode == 0, done.stderr
    found.phases.update(json.loads((found.folder / "p.phases.json").read_text()))
    found.plan.update(json.loads((found.folder / "p.plan.json").read_text()))
    return found


def test_program_has_its_three_phases_in_order(found):
    phases = found.phases
    assert [phase["kind"] for phase in phases["phases"]] == ["compute", "file-io", "socket-io"]
    order = [boundary["to"] for boundary in phases["boundaries"]]
    assert order == [0, 1, 2] * CYCLES


def test_program_wrote_and_sent_in_the_right_phases(found):
    calls = [
        {call["name"]: call["count"] for call in phase["system_calls"]}
        for phase in found.phases["phases"]
    ]
    assert calls[1]["write"] >= 0.8 * CYCLES * RECORDS
    assert calls[2]["sendto"] >= 0.8 * CYCLES * MESSAGES


def test_program_markers_fire_as_often_as_the_functions_are_called(found):
    plan = found.plan
    markers = {marker["phase"]: marker for marker in plan["markers"]}
    expected = {0: ("relax", STEPS), 1: ("checkpoint", 1), 2: ("exchange", 1)}
    for phase, (function, times) in expected.items():
        marker = markers[phase]
        assert marker["function"] in (function, "main"), marker
        if marker["function"] == function:
            assert marker["expected_fires"] == CYCLES * times, marker
            assert marker["verified"]
        else:
            # The step loop of main() begins where the phase compute does.
            assert (phase, marker["expected_fires"]) == (0, CYCLES), marker


def test_program_gets_the_long_quantum_for_compute_only(found):
    plan = found.plan
    assert [policy["quantum_ns"] > 0 for policy in plan["policies"]] == [True, False, False]
    assert [one for one in plan["refused"] if one["what"] != "I/O path"] == []
    assert plan["needs"]["socket_families"] == [1]
    assert {"write", "sendto", "socketpair"} <= set(plan["needs"]["system_calls"])


def test_program_built_to_the_plan_announces_each_phase_as_it_begins(found):
    found.compile("announced.c", KADENCE_PLAN="p.plan.json")
    done = subprocess.run(
        ["./planted"], cwd=found.folder, capture_output=True, text=True, check=True
    )
    assert [phase for phase, _ in groupby(done.stderr)] == ["0", "1", "2"] * CYCLES
    for marker in found.plan["markers"]:
        assert done.stderr.count(str(marker["phase"])) == marker["expected_fires"]
