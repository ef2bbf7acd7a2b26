# SPDX-License-Identifier: GPL-2.0-or-later
"""Streams that are flushed after each record get no ring, and so no plan."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence.phases import analysis, planning
from kadence.phases.document import parse
from kadence.profiler import runner

HERE = Path(__file__).parent
RECORDS, SIZE = 20000, 24
STREAMS, DESCRIPTORS = "fputs", "write"

Planned = Callable[[str], tuple[list[dict[str, Any]], dict[str, Any]]]


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """What the streams of each phase wrote, and the plan, of the program run in these ways."""
    folder = tmp_path_factory.mktemp("flushes")
    program = folder / "flushes"
    source = HERE / "flushes.c"
    subprocess.run(["gcc-12", "-g", "-O2", "-o", program, source], check=True)

    def plan(ways: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        profile = folder / f"{ways}.kprof"
        runner.profile([str(program), ways], profile, 1_000_000, cwd=folder)
        phases = folder / f"{ways}.json"
        body = analysis.run(profile, phases)
        streams = [phase["streams"] for phase in body["phases"]]
        return streams, planning.plan(parse(body, phases), planning.Options())

    return plan


def functions(plan: dict[str, Any]) -> set[str]:
    return {site["function"] for site in plan["io"]["sites"]}


def calls(plan: dict[str, Any]) -> set[str]:
    return {name for site in plan["io"]["sites"] for name in site["calls"]}


def rings_refused(plan: dict[str, Any]) -> list[str]:
    return [entry["reason"] for entry in plan["refused"] if entry["what"] == "ring"]


@pytest.mark.parametrize(
    ("way", "function", "call"),
    # GCC makes fwrite() of an fputs() whose text it knows.
    [("f", "flushed", "fflush"), ("u", "put", "fwrite"), ("l", "by_line", "fwrite")],
)
def test_a_stream_that_empties_its_buffer_at_each_record_is_refused(
    planned: Planned, way: str, function: str, call: str
) -> None:
    streams, plan = planned(way)
    (found,) = (flushed for phase in streams for flushed in phase["flushed"])
    assert (found["function"], found["calls"]) == (function, [call])
    assert (found["count"], found["bytes"]) == (RECORDS, RECORDS * SIZE)
    assert plan["io"]["mode"] == "off"
    assert plan["io"]["sites"] == []
    (reason,) = rings_refused(plan)
    assert reason.startswith(f"{RECORDS} writes of {SIZE} bytes on average by {call}")


@pytest.mark.parametrize(
    ("way", "function"), [("b", "buffered"), ("s", "in_small_buffer"), ("r", "rarely_flushed")]
)
def test_a_stream_that_fills_its_buffer_is_planned(
    planned: Planned, way: str, function: str
) -> None:
    streams, plan = planned(way)
    assert [phase["flushed"] for phase in streams] == [[]] * len(streams)
    assert function in functions(plan)
    assert STREAMS in calls(plan)
    assert rings_refused(plan) == []


def test_a_write_by_descriptor_is_planned(planned: Planned) -> None:
    _, plan = planned("d")
    assert "direct" in functions(plan)
    assert DESCRIPTORS in calls(plan)
    assert STREAMS not in calls(plan)


def test_beside_a_flushed_stream_a_descriptor_is_still_planned(planned: Planned) -> None:
    _, plan = planned("fd")
    assert "direct" in functions(plan)
    assert "flushed" not in functions(plan)
    assert STREAMS not in calls(plan)
    assert len(rings_refused(plan)) == 1
