# SPDX-License-Identifier: GPL-2.0-or-later
"""Streams that are flushed after each record are planned at the flush; other streams are not."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence.phases import analysis, planning
from kadence.phases.artefact.document import parse
from kadence.profiler.run import runner

HERE = Path(__file__).parent
RECORDS, SIZE = 20000, 24

Planned = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """Plan the program for a run in these ways."""
    folder = tmp_path_factory.mktemp("flushes")
    program = folder / "flushes"
    source = HERE / "flushes.c"
    subprocess.run(["gcc-12", "-g", "-O2", "-o", program, source], check=True)

    def plan(ways: str) -> dict[str, Any]:
        profile = folder / f"{ways}.kprof"
        runner.profile([str(program), ways], profile, 1_000_000, cwd=folder)
        phases = folder / f"{ways}.json"
        body = analysis.run(profile, phases)
        return planning.plan(parse(body, phases), planning.Options())

    return plan


def sites(plan: dict[str, Any]) -> dict[str, set[str]]:
    """Function -> its calls, over all phases."""
    found: dict[str, set[str]] = {}
    for site in plan["io"]["sites"]:
        found.setdefault(site["function"], set()).update(site["calls"])
    return found


def refused(plan: dict[str, Any]) -> list[str]:
    return [entry["reason"] for entry in plan["refused"] if entry["what"] == "I/O path"]


def test_a_stream_that_is_flushed_at_each_record_is_planned(planned: Planned) -> None:
    plan = planned("f")
    assert sites(plan) == {"flushed": {"fflush"}}
    site = plan["io"]["sites"][0]
    assert f"{RECORDS} by fflush here" in site["evidence"]
    assert f"{RECORDS} writes of {SIZE} bytes on average to files" in site["evidence"]
    assert plan["io"]["streams"] is False


@pytest.mark.parametrize(
    "way",
    # GCC turns fputs() of a constant string into fwrite().
    ["u", "l", "b", "s"],
)
def test_a_stream_that_is_never_flushed_is_not(planned: Planned, way: str) -> None:
    plan = planned(way)
    assert (plan["io"]["mode"], plan["io"]["sites"]) == ("off", [])
    (reason,) = refused(plan)
    assert "by fwrite, and rings take what write, writev and fflush write" in reason


def test_a_stream_that_fills_its_buffer_between_flushes_is_not(planned: Planned) -> None:
    plan = planned("r")
    assert sites(plan) == {}
    assert any("by fflush, fwrite, whose streams fill" in reason for reason in refused(plan))


def test_a_write_by_descriptor_is_planned(planned: Planned) -> None:
    assert sites(planned("d")) == {"direct": {"write"}}


def test_each_is_planned_beside_the_other(planned: Planned) -> None:
    assert sites(planned("fdu")) == {"direct": {"write"}, "flushed": {"fflush"}}
