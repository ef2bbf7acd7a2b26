# SPDX-License-Identifier: GPL-2.0-or-later
"""Phases, kinds and markers of profiles in which they were planted."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from planted import (
    CHECKPOINT,
    COMPUTE,
    COMPUTE_ROWS,
    CYCLES,
    FILE_ROWS,
    INNER,
    INTERVAL,
    LOG,
    MAIN,
    OUTER,
    SOCKET_ROWS,
    Planted,
    one_kind,
    three_phases,
)
from scipy import sparse

from kadence.base.errors import ArtefactError
from kadence.phases.analysis import describe
from kadence.phases.describe.marking import acceptable
from kadence.phases.describe.source import base_name, same_file
from kadence.phases.find.segmentation import segment
from kadence.phases.mark.candidates import candidates
from kadence.profiler.format.profile import Profile, SystemCalls

CYCLE_ROWS = COMPUTE_ROWS + 1 + FILE_ROWS + SOCKET_ROWS


def described(profile: Profile) -> dict[str, Any]:
    return describe(profile, segment(profile))


def best_marker(body: dict[str, Any], phase: int) -> dict[str, Any]:
    return next(marker for marker in body["markers"] if marker["phase"] == phase)


@pytest.fixture(scope="module")
def body() -> dict[str, Any]:
    return described(three_phases().profile())


def test_three_planted_phases_are_three(body):
    assert [phase["kind"] for phase in body["phases"]] == ["compute", "file-io", "socket-io"]
    assert [phase["id"] for phase in body["phases"]] == [0, 1, 2]


def test_every_row_has_its_planted_phase_and_a_mixed_one_is_a_transition(body):
    for cycle in range(CYCLES):
        rows = body["assignment"][cycle * CYCLE_ROWS : (cycle + 1) * CYCLE_ROWS]
        assert rows[:COMPUTE_ROWS] == [0] * COMPUTE_ROWS
        assert rows[COMPUTE_ROWS] in (0, 1)
        assert rows[COMPUTE_ROWS + 1 :] == [1] * FILE_ROWS + [2] * SOCKET_ROWS
    mixed = list(range(COMPUTE_ROWS, CYCLES * CYCLE_ROWS, CYCLE_ROWS))
    assert body["transitions"] == mixed
    assert body["transition_weight"] == pytest.approx(1 / CYCLE_ROWS, abs=1e-6)


def test_weights_are_the_planted_instructions(body):
    rows = (CYCLES * COMPUTE_ROWS, CYCLES * FILE_ROWS, CYCLES * SOCKET_ROWS)
    expected = [count / (CYCLES * CYCLE_ROWS) for count in rows]
    assert [phase["weight"] for phase in body["phases"]] == pytest.approx(expected, abs=1e-6)
    assert [phase["intervals"] for phase in body["phases"]] == list(rows)


def test_a_representative_is_a_pure_row_of_its_phase(body):
    for phase in body["phases"]:
        row = phase["representative"]
        assert body["assignment"][row] == phase["id"]
        assert row % CYCLE_ROWS != COMPUTE_ROWS


def test_hottest_blocks_have_the_planted_shares(body):
    compute, _, sockets = body["phases"]
    assert (compute["hottest"][0]["function"], compute["hottest"][0]["line"]) == ("compute", 14)
    assert compute["hottest"][0]["share"] == pytest.approx(0.9, abs=0.01)
    assert sockets["hottest"][0]["function"] == "send"


def test_boundaries_are_where_the_assignment_changes(body):
    rows = [boundary["row"] for boundary in body["boundaries"]]
    assert rows == [0, *(np.flatnonzero(np.diff(body["assignment"])) + 1).tolist()]
    assert body["boundaries"][0] == {"row": 0, "from": None, "to": 0}


def test_markers_fire_once_per_boundary(body):
    for phase, function in [(1, "checkpoint"), (2, "exchange")]:
        marker = best_marker(body, phase)
        assert (marker["function"], marker["kind"]) == (function, "function_entry")
        assert marker["fires"] == marker["boundaries"] == CYCLES
        assert (marker["announced"], marker["false"], marker["intrudes"]) == (1, 0, 0)
        assert marker["exact"] and marker["verified"]


def test_the_return_to_compute_is_announced_by_what_runs_in_each_step(body):
    marker = best_marker(body, 0)
    assert marker["function"] == "compute"
    assert marker["fires"] == CYCLES * COMPUTE_ROWS
    assert marker["boundaries"] == CYCLES - 1
    assert (marker["announced"], marker["false"], marker["intrudes"]) == (1, 0, 0)


def test_what_fires_at_every_boundary_announces_none(body):
    logs = [marker for marker in body["markers"] if marker["function"] == "log_line"]
    assert logs
    for marker in logs:
        assert not acceptable(marker["announced"], marker["false"], marker["intrudes"])


def test_what_fires_all_the_time_announces_nothing():
    planted = three_phases()
    for row in range(len(planted.rows)):
        planted.enter(row, LOG, 3)
    body = described(planted.profile())
    for marker in body["markers"]:
        if marker["function"] == "log_line":
            assert not acceptable(marker["announced"], marker["false"], marker["intrudes"])


def test_the_tail_of_a_phase_in_a_mixed_row_does_not_spoil_its_marker():
    planted = three_phases()
    for row in range(COMPUTE_ROWS, len(planted.rows), CYCLE_ROWS):
        planted.rows[row] = {"C": 0.3, "F": 0.7}
        planted.enter(row, COMPUTE, 0.3)
    marker = best_marker(described(planted.profile()), 0)
    assert marker["function"] == "compute"
    assert acceptable(marker["announced"], marker["false"], marker["intrudes"])


def test_libc_carries_no_marker(body):
    assert {marker["function"] for marker in body["markers"]} <= {
        "main",
        "compute",
        "checkpoint",
        "exchange",
        "log_line",
    }


def test_without_the_wrappers_section_markers_are_unverified_functions():
    body = described(three_phases().profile(functions=()))
    assert body["markers"]
    for marker in body["markers"]:
        assert marker["kind"] == "function_entry"
        assert (marker["verified"], marker["cfg_checksum"], marker["loop"]) == (False, None, None)
    assert best_marker(body, 1)["function"] == "checkpoint"


def test_what_the_loader_reads_makes_no_phase_file_io(body):
    assert sum(call["bytes"] for call in body["phases"][0]["system_calls"]) == 832_000
    assert body["phases"][0]["kind"] == "compute"


def test_calls_are_summed_by_phase_and_over_the_run(body):
    assert body["phases"][1]["system_calls"] == [
        {"name": "write", "descriptor": "file", "count": 2400, "bytes": 153_600}
    ]
    total = {call["name"]: call["count"] for call in body["system_calls"]}
    assert total == {"openat": 2000, "read": 1000, "write": 2400, "sendto": 1080}


@pytest.mark.parametrize(
    ("calls", "kind"),
    [
        ((), "compute"),
        ((SystemCalls(3, "write", "file", 58, 0),), "compute"),
        ((SystemCalls(3, "write", "file", 59, 0),), "file-io"),
        ((SystemCalls(3, "read", "file", 1, 90_000),), "file-io"),
        ((SystemCalls(3, "sendto", "socket", 22, 0),), "socket-io"),
        ((SystemCalls(3, "write", "pipe", 100, 100),), "file-io"),
        ((SystemCalls(3, "write", "device", 100_000, 100_000),), "compute"),
        ((SystemCalls(3, "openat", "", 100, 0),), "file-io"),
        ((SystemCalls(3, "close", "file", 100, 0),), "compute"),
    ],
)
def test_the_kind_follows_from_a_million_instructions_of_calls(calls, kind):
    # Twenty rows, so the calls of one row are made twenty times.
    many = tuple(replace(call, interval=row) for call in calls for row in range(20))
    body = described(one_kind("C", 20).profile(system_calls=many))
    assert [phase["kind"] for phase in body["phases"]] == [kind]


def test_a_single_interval_is_one_phase():
    body = described(one_kind("C", 1).profile())
    assert body["assignment"] == [0]
    assert body["phases"][0]["weight"] == 1
    assert best_marker(body, 0)["function"] == "main"


def test_a_profile_without_intervals_is_refused():
    empty = sparse.csr_array((0, 11))
    with pytest.raises(ArtefactError, match="the profile is empty"):
        segment(
            one_kind("C", 1).profile(
                vectors=empty,
                counts=empty,
                instructions=np.zeros(0, dtype=np.int64),
                thread=np.zeros(0, dtype=np.int32),
            )
        )


def test_intervals_without_instructions_join_their_neighbours():
    planted = three_phases()
    planted.rows[5], planted.sizes[5] = {}, 0
    planted.rows[-1], planted.sizes[-1] = {}, 0
    body = described(planted.profile(noise=0.0))
    assert len(body["phases"]) == 3
    assert (body["assignment"][5], body["assignment"][-1]) == (0, 2)


def test_a_short_last_interval_founds_no_phase():
    planted = three_phases()
    planted.add({"F": 0.3, "S": 0.7}, size=INTERVAL // 50)
    assert len(described(planted.profile())["phases"]) == 3


def test_a_visit_too_short_to_matter_founds_no_phase():
    planted = Planted()
    for letter, rows in (("S", 2), ("C", 300)):
        for _ in range(rows):
            planted.add({letter: 1.0})
    assert len(described(planted.profile())["phases"]) == 1
    assert len(described(three_phases(into=planted).profile())["phases"]) == 3


def test_threads_have_their_own_boundaries():
    planted = three_phases()
    first = len(planted.rows)
    three_phases(thread=2, into=planted)
    body = described(planted.profile())
    assert body["threads"] == [1, 2]
    assert {"row": first, "from": None, "to": 0} in body["boundaries"]
    assert best_marker(body, 1)["fires"] == 2 * CYCLES


def test_inlined_functions_are_seen_by_their_lines():
    """All is inlined into main(): only the latch and top of its loops show `compute`."""
    planted = Planted()
    for cycle in range(CYCLES):
        for _ in range(COMPUTE_ROWS):
            row = planted.add({"C": 1.0})
            planted.enter(row, OUTER, 1000)
            planted.enter(row, INNER, 999)
        row = planted.add({"F": 1.0})
        planted.enter(row, CHECKPOINT)
        planted.add({"F": 1.0})
        if cycle == 0:
            planted.enter(0, MAIN)
    profile = planted.profile()
    inlined = tuple(
        replace(block, function="main", entry=False) if block.function == "compute" else block
        for block in profile.blocks
    )
    found = {
        (candidate.function, candidate.kind, candidate.line): candidate
        for candidate in candidates(replace(profile, blocks=inlined))
    }
    entry = found["compute", "function_entry", 10]
    assert not entry.exact
    assert entry.fires.sum() == CYCLES * COMPUTE_ROWS
    assert entry.fires[[COMPUTE_ROWS, COMPUTE_ROWS + 1]].sum() == 0
    assert found["checkpoint", "function_entry", 30].exact


@pytest.mark.parametrize(("line", "counted"), [(30, False), (31, True)])
def test_an_inlined_function_of_one_line_is_not_counted(line, counted):
    """Its instructions lie in the middle of its callers' blocks; few blocks begin with them.

    `checkpoint` is inlined into main(), and the block that was main()'s is another copy of it.
    """
    profile = three_phases().profile()
    blocks = list(profile.blocks)
    blocks[CHECKPOINT] = replace(blocks[CHECKPOINT], function="main", entry=False)
    blocks[MAIN] = replace(blocks[MAIN], entry=False, line=line)
    found = candidates(replace(profile, blocks=tuple(blocks)))
    assert ("checkpoint" in {candidate.function for candidate in found}) is counted


def test_a_clone_is_its_function_and_a_piece_is_none():
    profile = three_phases().profile()
    renamed = tuple(
        replace(block, function=f"{block.function}.part.0")
        if block.function == "checkpoint"
        else replace(block, function=f"{block.function}.constprop.0.isra.0")
        if block.function == "exchange"
        else block
        for block in profile.blocks
    )
    functions = {candidate.function for candidate in candidates(replace(profile, blocks=renamed))}
    assert "exchange" in functions
    assert "checkpoint" not in functions
    assert COMPUTE == 1


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("f", "f"),
        ("f.constprop.0", "f"),
        ("f.isra.0.part.3.cold", "f"),
        ("solve.1", "solve.1"),
        ("f.lto_priv.0", "f"),
    ],
)
def test_clone_suffixes_are_stripped_and_no_others(symbol, name):
    assert base_name(symbol) == name


def test_files_match_from_whatever_directory():
    assert same_file("/build/a/src/x.c", "src/x.c")
    assert same_file("./x.c", "/src/x.c")
    assert not same_file("/a/src/x.c", "/b/src/x.c")
    assert not same_file("x.c", "xx.c")
    assert not same_file("", "x.c")


def test_what_comes_again_only_within_the_start_up_founds_no_phase():
    planted = Planted()
    for letter in "SSFSSFSS":
        planted.add({letter: 1.0})
    for _ in range(2000):
        planted.add({"C": 1.0})
    assert [phase["kind"] for phase in described(planted.profile())["phases"]] == ["compute"]
