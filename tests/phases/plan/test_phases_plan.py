# SPDX-License-Identifier: GPL-2.0-or-later
"""Which phases get a long quantum, which do not, and what the plan says about it."""

from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planted import CYCLES, three_phases

from kadence.base.errors import ArtefactError, UsageError
from kadence.phases import planning
from kadence.phases.analysis import describe
from kadence.phases.artefact.document import parse
from kadence.phases.find.segmentation import segment
from kadence.profiler.format.profile import COMPILED, SIMPOINT, Facts

QUANTUM_NS = 5_000_000_000


def planned(body: dict[str, Any], processors: int = 1, quantum: float = 5.0) -> dict[str, Any]:
    options = planning.Options(processors, quantum)
    return planning.plan(parse(body, Path("x.phases.json")), options)


def quanta(plan: dict[str, Any]) -> list[int]:
    return [policy["quantum_ns"] for policy in plan["policies"]]


def refusals(plan: dict[str, Any], phase: int) -> dict[str, str]:
    return {
        refusal["what"]: refusal["reason"]
        for refusal in plan["refused"]
        if refusal["phase"] == phase
    }


@pytest.fixture
def body() -> dict[str, Any]:
    profile = three_phases().profile()
    return describe(profile, segment(profile))


def test_compute_gets_the_long_quantum_and_io_the_default(body):
    plan = planned(body)
    assert quanta(plan) == [QUANTUM_NS, 0, 0]
    assert [policy["name"] for policy in plan["policies"]] == ["compute", "file-io", "socket-io"]
    assert plan["refused"] == []


@pytest.fixture
def unseen() -> dict[str, Any]:
    """The same phases of a program that counted itself, as a plan sees them."""
    profile = three_phases().profile()
    found = describe(replace(profile, system_calls=(), backend=COMPILED), segment(profile))
    return found | {"markers": describe(profile, segment(profile))["markers"]}


def test_what_nobody_saw_is_not_called_compute_and_planned_as_such(unseen, body):
    assert [phase["kind"] for phase in unseen["phases"]] == ["unseen"] * 3
    plan = planned(unseen)
    assert [policy["name"] for policy in plan["policies"]] == ["unseen"] * 3
    assert quanta(plan) == [QUANTUM_NS] * 3
    for policy in plan["policies"]:
        assert policy["evidence"].startswith("unseen: ")
        assert "system calls were not seen" in policy["evidence"]
        assert "whether a way out leads into I/O was not seen" in policy["evidence"]
    assert (plan["io"]["mode"], plan["memory"]["mode"], plan["needs"]) == ("off", "off", None)
    # A way out into a phase not known to do I/O needs no marker, just as one into compute.
    assert quanta(planned(without_markers_of(unseen, 1))) == [QUANTUM_NS, 0, QUANTUM_NS]
    assert quanta(planned(unseen | {"concurrency": body["concurrency"] | {"threads": 2}}))[0] == 0


def test_who_did_not_see_the_tasks_gets_no_long_quantum(unseen):
    """Not even with markers, which such profiles do not have."""
    assert quanta(planned(unseen | {"backend": SIMPOINT})) == [0, 0, 0]


def test_each_phase_gets_its_marker_with_the_checksum(body):
    markers = {marker["phase"]: marker for marker in planned(body)["markers"]}
    assert {phase: marker["function"] for phase, marker in markers.items()} == {
        0: "compute",
        1: "checkpoint",
        2: "exchange",
    }
    assert markers[1]["cfg_checksum"] == "0000bbbb"
    assert markers[1]["expected_fires"] == markers[1]["boundaries"] == CYCLES
    assert [marker["id"] for marker in planned(body)["markers"]] == [0, 1, 2]


def test_every_decision_carries_its_figures(body):
    plan = planned(body)
    assert "100 I/O calls and 6400 bytes per million" in plan["policies"][1]["evidence"]
    assert "fires 6 times" in plan["markers"][1]["evidence"]
    assert "6 boundaries" in plan["markers"][1]["evidence"]


def test_the_quantum_is_the_one_asked_for(body):
    assert quanta(planned(body, quantum=0.25))[0] == 250_000_000


@pytest.mark.parametrize(
    ("facts", "processors", "long"),
    [
        ({"threads": 2}, 1, False),
        ({"threads": 2}, 2, True),
        ({"threads": 4}, 2, False),
        ({"processes": 2}, 1, True),  # two processes that share nothing: the paper's case
        ({"processes": 2, "shared_memory": True}, 1, False),
        ({"processes": 2, "shared_memory": True}, 2, True),
        ({"processes": 2, "synchronises": True}, 1, False),
        ({"processes": 3, "synchronises": True}, 2, False),
        ({"threads": 1, "synchronises": True}, 1, True),  # there is no other task to wait for
    ],
)
def test_tasks_that_may_wait_for_one_another_need_a_processor_each(body, facts, processors, long):
    shared = {"shared_memory": True} if facts.get("threads", 1) > 1 else {}
    body["concurrency"] |= facts | shared
    plan = planned(body, processors)
    assert quanta(plan)[0] == (QUANTUM_NS if long else 0)
    assert ("long quantum" in refusals(plan, 0)) == (not long)
    if not long:
        assert "hold it up" in plan["policies"][0]["evidence"]


def test_threads_of_a_profile_share_memory_and_pipes_between_processes_synchronise():
    profile = three_phases().profile(facts=Facts(threads=3, processes=1))
    concurrency = describe(profile, segment(profile))["concurrency"]
    assert concurrency["shared_memory"] and concurrency["synchronises"]
    profile = three_phases().profile(facts=Facts(threads=1, processes=2))
    concurrency = describe(profile, segment(profile))["concurrency"]
    assert not concurrency["shared_memory"] and concurrency["synchronises"]
    profile = three_phases().profile()
    assert not describe(profile, segment(profile))["concurrency"]["synchronises"]


def without_markers_of(body: dict[str, Any], *phases: int) -> dict[str, Any]:
    changed = deepcopy(body)
    changed["markers"] = [marker for marker in body["markers"] if marker["phase"] not in phases]
    return changed


def test_a_way_out_into_io_that_nothing_announces_forbids_the_long_quantum(body):
    plan = planned(without_markers_of(body, 1))
    assert quanta(plan) == [0, 0, 0]
    assert "phase 1" in refusals(plan, 0)["long quantum"]
    assert "no function or loop" in refusals(plan, 1)["marker"]


def test_io_that_is_never_reached_from_compute_directly_needs_no_marker_of_its_own(body):
    # 0 -> 1 is announced; 1 -> 2 happens under the default quantum already.
    assert quanta(planned(without_markers_of(body, 2)))[0] == QUANTUM_NS


def test_the_quantum_stays_on_through_a_phase_that_nothing_announces(body):
    # 0 -> 1 (now compute, unannounced) -> 2 (I/O, unannounced).
    body["phases"][1]["kind"] = "compute"
    plan = planned(without_markers_of(body, 1, 2))
    assert quanta(plan) == [0, 0, 0]
    assert "phase 2" in refusals(plan, 0)["long quantum"]
    assert quanta(planned(without_markers_of(body, 1)))[0] == QUANTUM_NS


def test_a_phase_that_nothing_announces_gets_no_long_quantum(body):
    plan = planned(without_markers_of(body, 0))
    assert quanta(plan)[0] == 0
    assert "nothing announces the phase" in refusals(plan, 0)["long quantum"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"announced": 0.79}, "announces 79%"),
        ({"false": 0.26}, "elsewhere in 26%"),
        ({"intrudes": 0.26}, "disturbs 26%"),
    ],
)
def test_a_bad_marker_is_refused_with_its_figures(body, change, reason):
    for marker in body["markers"]:
        if marker["phase"] == 1:
            marker.update(change)
    plan = planned(body)
    assert 1 not in [marker["phase"] for marker in plan["markers"]]
    assert reason in refusals(plan, 1)["marker"]


def test_a_marker_beyond_the_budget_is_refused(body):
    # 120 intervals of a million instructions are 0.12 s: 121 firings are above 1,000 a second.
    kept = [marker for marker in body["markers"] if marker["function"] == "checkpoint"]
    body["markers"] = kept
    kept[0]["fires"] = 120
    assert planned(body)["markers"][0]["expected_fires"] == 120
    kept[0]["fires"] = 121
    plan = planned(body)
    assert plan["markers"] == []
    assert "1008 times a second" in refusals(plan, 1)["marker"]


def test_one_place_announces_one_phase_only(body):
    checkpoint = next(m for m in body["markers"] if m["function"] == "checkpoint")
    body["markers"] = [checkpoint, checkpoint | {"phase": 2}]
    plan = planned(body)
    assert [marker["phase"] for marker in plan["markers"]] == [1]
    assert "already announces another phase" in refusals(plan, 2)["marker"]


def test_needs_are_what_the_run_used(body):
    body["socket_families"] = [2]
    body["memory_bytes"] = 4096
    assert planned(body)["needs"] == {
        "system_calls": ["openat", "read", "sendto", "write"],
        "socket_families": [2],
        "files": [],
        "file_systems": [],
        "threads": False,
        "processes": False,
        "tasks": 1,
        "shared_memory": False,
        "memory_bytes": 4096,
        "io_paths": True,
        "memory": False,
    }


@pytest.mark.parametrize("processors", [0, -1])
def test_there_is_at_least_one_processor(body, processors):
    with pytest.raises(UsageError, match="--processors"):
        planned(body, processors)


@pytest.mark.parametrize("quantum", [0, -5, 10.5, float("inf"), float("nan")])
def test_the_quantum_stays_within_the_drivers_limits(body, quantum):
    with pytest.raises(UsageError, match="--quantum"):
        planned(body, quantum=quantum)


@pytest.mark.parametrize(
    "key", ["phases", "markers", "boundaries", "concurrency", "instructions", "backend"]
)
@pytest.mark.parametrize("damage", ["missing", None, 7, [7], {"x": 1}])
def test_a_damaged_artefact_is_refused_in_one_sentence(body, key, damage):
    if damage == "missing":
        del body[key]
    else:
        body[key] = damage
    if key == "instructions" and damage == [7]:
        return  # seven instructions are few, but valid
    with pytest.raises(ArtefactError, match=r"x\.phases\.json is damaged"):
        planned(body)


@pytest.mark.parametrize(
    ("key", "entry", "value"),
    [
        ("phases", "kind", "idle"),
        ("phases", "id", 4),
        ("markers", "phase", 3),
        ("markers", "kind", "wish"),
        ("boundaries", "to", -1),
        ("boundaries", "from", "x"),
    ],
)
def test_values_nobody_knows_are_refused(body, key, entry, value):
    body[key][0][entry] = value
    with pytest.raises(ArtefactError, match="is damaged"):
        planned(body)


@pytest.mark.parametrize("backend", ["perf", "", "KBBV"])
def test_who_is_not_known_to_have_seen_the_system_calls_is_refused(body, backend):
    with pytest.raises(ArtefactError, match="is damaged: its backend .* is unknown"):
        planned(body | {"backend": backend})
