# SPDX-License-Identifier: GPL-2.0-or-later
"""What a plan lets an adapted program try, and what identifies the plan in records."""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planted import CYCLES, PROGRAM, three_phases

from kadence.base import codec
from kadence.base.errors import ArtefactError, UsageError
from kadence.phases import planning
from kadence.phases.analysis import describe
from kadence.phases.artefact.document import parse
from kadence.phases.find.segmentation import segment
from kadence.phases.plan import trials
from kadence.profiler.format.profile import CallSite, Mapping, Memory, Profile, Touches

PAGES = 1024
BUILD_ID = "ab" * 20
HEAP = Mapping("heap", False, 0, PAGES * 4096, 0, None, None, False, False, 0)


def body_of(profile: Profile) -> dict[str, Any]:
    return describe(profile, segment(profile))


def planned(body: dict[str, Any], build_id: str = BUILD_ID, **options: Any) -> dict[str, Any]:
    document = parse(body, Path("x.phases.json"))
    return planning.plan(document, planning.Options(**options), None, build_id)


def tried(plan: dict[str, Any]) -> list[tuple[int, list[str], int]]:
    return [(one["phase"], one["policies"], one["visits"]) for one in plan["trials"]["phases"]]


@pytest.fixture
def body() -> dict[str, Any]:
    """Compute with a long quantum, small writes to a file, and a loop of sends."""
    return body_of(three_phases().profile())


def test_each_phase_tries_what_is_planned_for_it(body):
    assert tried(planned(body)) == [
        (0, ["quantum"], CYCLES - 1),
        (1, ["rings"], CYCLES),
        (2, ["batches"], CYCLES),
    ]
    assert tried(planned(body, io="off")) == [(0, ["quantum"], CYCLES - 1)]


def test_without_a_marker_a_phase_tries_nothing(body):
    body["markers"] = [marker for marker in body["markers"] if marker["phase"] != 1]
    assert [phase for phase, _, _ in tried(planned(body))] == [2]  # and phase 0 has no quantum


@pytest.mark.parametrize(
    ("site", "mapping", "policies"),
    [
        (
            CallSite("malloc", "compute", "/src/planted.c", 13, PROGRAM),
            Mapping(
                "anonymous", False, 0, PAGES * 4096, PAGES * 4096 - 16, 0, None, False, False, 0
            ),
            ["quantum", "memory"],
        ),
        (CallSite("brk", "", "", 0, ""), HEAP, ["quantum", "memory"]),
        (CallSite("brk", "", "", 0, ""), replace(HEAP, forked=True), ["quantum"]),
    ],
)
def test_memory_is_tried_where_it_is_treated(site, mapping, policies):
    profile = three_phases().profile()
    memory = Memory((site,), (mapping,), (Touches(0, 0, PAGES, 1, PAGES, 0, 0),))
    facts = replace(profile.facts, memory_bytes=10 * PAGES * 4096, memory_limit_bytes=1 << 34)
    plan = planned(body_of(replace(profile, memory=memory, facts=facts)))
    assert {phase: names for phase, names, _ in tried(plan)} == {
        0: policies,
        1: ["rings"],
        2: ["batches"],
    }


def test_trials_can_be_switched_off(body):
    plan = planned(body, trials="off")
    assert plan["trials"] == {
        "mode": "off",
        "id": planned(body)["trials"]["id"],
        "phases": [],
        "learned": [],
        "runs": [],
    }
    with pytest.raises(UsageError, match="--trials takes on, off, not 'maybe'"):
        planned(body, trials="maybe")


def test_the_id_tells_program_build_and_model_apart(body):
    own = planned(body)["trials"]["id"]
    assert len(own) == 16 and int(own, 16) >= 0
    assert trials.difference(own, own) is None
    build = planned(body, "cd" * 20)["trials"]["id"]
    assert trials.difference(own, build) == "another build of the program"
    quantum = planned(body, quantum=1.0)["trials"]["id"]
    assert "another phase model" in str(trials.difference(own, quantum))
    other = planned(body | {"program": ["./other"]})["trials"]["id"]
    assert trials.difference(own, other) == "another program"


def test_the_id_is_about_what_the_program_does_and_not_about_reasons(body):
    own = planned(body)["trials"]["id"]
    moved = planned(body | {"program": ["/elsewhere/planted", "--more"]})
    assert moved["trials"]["id"] == own
    changed = deepcopy(body)
    for marker in changed["markers"]:
        marker["fires"] += 1  # another evidence, the same marker
    assert planned(changed)["trials"]["id"] == own
    changed["markers"][0]["line"] += 1
    assert planned(changed)["trials"]["id"] != own


def test_what_cannot_be_an_entry_is_refused(body):
    entry = planned(body)["trials"]
    assert codec.encode(codec.decode(trials.Trials, entry)) == entry
    arm = {"phase": 0, "policy": "memory", "level": 1, "effect": -0.03, "error": 0.004}
    machine = {"processor": "x", "kernel": "6.12", "memory_gib": 23}
    learned = arm | {"blocks": 120, "machine": machine, "records": 3}
    codec.decode(trials.Trials, entry | {"learned": [learned]})
    for damage in (
        {"mode": "maybe"},
        {"learned": [learned | {"policy": "luck"}]},
        {"learned": [learned | {"level": 0}]},
        {"learned": [learned | {"error": 0.0}]},
        {"learned": [learned | {"effect": float("nan")}]},
        {"learned": [learned | {"blocks": 0}]},
        {"learned": [learned | {"blocks": 10**400}]},
        {"learned": [learned | {"effect": -1e300}]},
        {"learned": [learned | {"error": 1e300}]},
        {"learned": [learned | {"error": 1e-300}]},
    ):
        with pytest.raises(ArtefactError):
            codec.decode(trials.Trials, entry | damage)
