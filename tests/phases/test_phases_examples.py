# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the firings that a profile predicts with those of the adapted example programs."""

import json
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kadence.base import resources
from kadence.program import program
from kadence.program.program import Program
from kadence.specialize import line

HERE = Path(__file__).parent
COMPILERS = {
    "heat": ("kadence-cc", "heat.c", "-lm"),
    "lu": ("kadence-fc", "lu.f90"),
    "ring": ("kadence-c++", "ring.cpp", "-std=c++17", "-pthread"),
}


@dataclass(frozen=True)
class Example:
    """An example with its plan, built to write each announcement to standard error."""

    folder: Path
    described: Program
    plan: dict[str, Any]
    comparison: dict[str, Any]

    def announced(self, argv: tuple[str, ...]) -> Counter[str]:
        done = subprocess.run(argv, cwd=self.folder, capture_output=True, text=True, check=True)
        return Counter(done.stderr)


def build(folder: Path, name: str, source: Path, *more: str | Path, plan: str = "") -> None:
    compiler, file, *options = COMPILERS[name]
    words = [resources.built(f"bin/{compiler}"), "-O2", "-g", source / file, *more, *options]
    environment = {"PATH": "/usr/bin:/bin"} | ({"KADENCE_PLAN": plan} if plan else {})
    subprocess.run([*words, "-o", name], cwd=folder, env=environment, check=True)


@pytest.fixture(scope="module", params=COMPILERS)
def example(
    request: pytest.FixtureRequest,
    root: Path,
    tmp_path_factory: pytest.TempPathFactory,
    kadence: Callable[..., Any],
) -> Example:
    """An example, profiled on both of its inputs, planned for the first, built with the plan."""
    name = request.param
    described = program.read(root / "examples" / name)
    folder = tmp_path_factory.mktemp(name)
    build(folder, name, described.folder)
    interval = ["--interval", str(described.interval or line.INTERVAL)]
    for command in (
        ["profile", *interval, "-o", "a.kprof", "--", *described.profile],
        ["profile", *interval, "-o", "b.kprof", "--", *described.validate],
        ["phases", "a.kprof", "-o", "p.json"],
        ["compare", "a.kprof", "b.kprof", "-o", "c.json"],
        ["plan", "p.json", "-o", "q.json", "--compare", "c.json"],
    ):
        done = kadence(*command, cwd=folder)
        assert done.returncode == 0, done.stderr
    subprocess.run(["gcc-12", "-c", HERE / "announced.c"], cwd=folder, check=True)
    build(folder, name, described.folder, "announced.o", plan="q.json")
    read = [json.loads((folder / file).read_text()) for file in ("q.json", "c.json")]
    return Example(folder, described, *read)


def test_examples_are_input_stable_and_wholly_marked(example: Example) -> None:
    assert example.plan["stability"]["verdict"] == "input-stable"
    found = example.plan["announcement"]
    for figures in (found["chosen_on"], *found["validated_on"]):
        assert figures["unmarked"] == 0, figures
        assert figures["announced"] >= 0.95, figures
        assert figures["false"] <= 0.05, figures
        assert figures["firings_per_second"] <= 1000, figures


def test_markers_fire_as_often_as_the_plan_expects(example: Example) -> None:
    expected = {
        str(marker["phase"]): marker["expected_fires"] for marker in example.plan["markers"]
    }
    assert example.announced(example.described.profile) == expected


def test_markers_fire_on_the_other_input_as_often_as_the_comparison_says(example: Example) -> None:
    places = {
        (marker["phase"], marker["kind"], marker["function"], marker["line"])
        for marker in example.plan["markers"]
    }
    expected = {
        str(judged["phase"]): judged["fires"]
        for judged in example.comparison["markers"]
        if judged["chosen_on"] == 0
        and (judged["phase"], judged["kind"], judged["function"], judged["line"]) in places
    }
    assert example.announced(example.described.validate) == expected
