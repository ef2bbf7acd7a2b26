# SPDX-License-Identifier: GPL-2.0-or-later
"""Which writes get rings and batches, and what the plan says about them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planted import CYCLES, FILE_ROWS, PROGRAM, SENDS, SITES, SOCKET_ROWS, WRITES, three_phases

from kadence.base.errors import ArtefactError, UsageError
from kadence.phases import planning
from kadence.phases.analysis import describe
from kadence.phases.artefact.document import parse
from kadence.phases.describe import io_calls
from kadence.phases.find.segmentation import segment
from kadence.phases.plan.io_records import BURST
from kadence.profiler.format.profile import CallSite, Profile, SystemCalls

PATH = Path("x.phases.json")
RECORD = 64
MADE = 100 * FILE_ROWS * CYCLES
SENT = 60 * SOCKET_ROWS * CYCLES


def body_of(profile: Profile) -> dict[str, Any]:
    return describe(profile, segment(profile))


def planned(body: dict[str, Any], io: str = "strict") -> dict[str, Any]:
    return planning.plan(parse(body, PATH), planning.Options(io=io))


def places(plan: dict[str, Any]) -> list[tuple[int, str, list[str]]]:
    return [(site["phase"], site["function"], site["calls"]) for site in plan["io"]["sites"]]


def refusals(plan: dict[str, Any]) -> dict[int, str]:
    return {r["phase"]: r["reason"] for r in plan["refused"] if r["what"] == "I/O path"}


def with_calls(profile: Profile, name: str, /, **changes: Any) -> Profile:
    """The profile with other figures in the system calls of this name."""
    calls = tuple(
        replace(call, **changes) if call.name == name else call for call in profile.system_calls
    )
    return replace(profile, system_calls=calls)


def with_site(profile: Profile, number: int, /, **changes: Any) -> Profile:
    """The profile with other members in one site of its system calls."""
    sites = list(SITES)
    sites[number] = replace(sites[number], **changes)
    return replace(profile, call_sites=tuple(sites))


def beside(profile: Profile, call: str, count: int, size: int, line: int = 31) -> Profile:
    """The profile with `count` more writes, by another call, in each row that writes."""
    site = CallSite(call, "checkpoint", "/src/planted.c", line, PROGRAM)
    rows = [made.interval for made in profile.system_calls if made.name == "write"]
    more = tuple(
        SystemCalls(row, "write", "file", count, count * size, len(profile.call_sites))
        for row in rows
    )
    return replace(
        profile,
        system_calls=profile.system_calls + more,
        call_sites=(*profile.call_sites, site),
    )


@pytest.fixture
def profile() -> Profile:
    return three_phases().profile()


def test_who_wrote_is_in_the_phases(profile):
    phases = body_of(profile)["phases"]
    function = {"function": "checkpoint", "file": "planted.c", "cfg_checksum": "0000bbbb"}
    assert [phase["writes"] for phase in phases[:2]] == [
        [],
        [
            {"call": "write", "places": [function], "name": "write", "descriptor": "file"}
            | {"count": MADE, "bytes": RECORD * MADE}
        ],
    ]
    (sent,) = phases[2]["writes"]
    assert (sent["call"], sent["name"], sent["count"]) == ("send", "sendto", SENT)


def test_small_writes_to_a_file_have_a_site_where_they_are_made(profile):
    plan = planned(body_of(profile))
    site = plan["io"]["sites"][0]
    assert (site["function"], site["file"], site["cfg_checksum"]) == (
        "checkpoint",
        "planted.c",
        "0000bbbb",
    )
    assert (site["phase"], site["line"], site["calls"]) == (1, None, ["write"])
    assert (
        f"{MADE} by write here, of {MADE} writes of 64 bytes on average to files"
        in (site["evidence"])
    )
    assert (plan["io"]["mode"], plan["io"]["streams"]) == ("strict", False)
    assert plan["needs"]["io_paths"] is True
    assert refusals(plan) == {}


@pytest.mark.parametrize("end", ["socket", "pipe"])
def test_to_others_only_loops_are_planned(profile, end):
    plan = planned(body_of(with_calls(profile, "sendto", descriptor=end)))
    assert places(plan) == [(1, "checkpoint", ["write"]), (2, "exchange", ["send"])]
    evidence = plan["io"]["sites"][1]["evidence"]
    assert f"{SENT} writes of 64 bytes on average to {end}s" in evidence
    assert evidence.endswith("where loops of the call become one")


@pytest.mark.parametrize("end", ["socket", "pipe"])
def test_what_makes_no_batch_to_others_is_refused(profile, end):
    calls = with_calls(profile, "sendto", descriptor=end, name="writev")
    plan = planned(body_of(with_site(calls, SENDS, call="writev")))
    assert places(plan) == [(1, "checkpoint", ["write"])]
    assert "by writev, and only loops of write or send" in refusals(plan)[2]


@pytest.mark.parametrize(
    ("call", "name", "named"),
    [
        ("__write", "write", "write"),
        ("writev", "writev", "writev"),
        ("_IO_fflush", "write", "fflush"),
        ("fflush_unlocked", "write", "fflush_unlocked"),
    ],
)
def test_each_call_that_is_redirected_has_a_site(profile, call, name, named):
    calls = with_calls(with_site(profile, WRITES, call=call), "write", name=name)
    plan = planned(body_of(calls))
    assert (1, "checkpoint", [named]) in places(plan)
    assert plan["io"]["streams"] is False


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("fputs", "write"),
        ("printf", "write"),
        ("fclose", "write"),
        ("pwrite", "pwrite64"),
    ],
)
def test_other_calls_are_refused_by_name(profile, call, name):
    calls = with_calls(with_site(profile, WRITES, call=call), "write", name=name)
    plan = planned(body_of(calls))
    assert 1 not in [phase for phase, *_ in places(plan)]
    assert f"by {call}, and rings take what write" in refusals(plan)[1]


@pytest.mark.parametrize("call", ["_ZSt4endlIcSt11char_traitsIcEE", "_gfortran_st_write_done"])
def test_streams_of_cpp_and_fortran_write_in_shared_libraries(profile, call):
    plan = planned(body_of(with_site(profile, WRITES, call=call)))
    assert (1, "checkpoint", ["write"]) in places(plan)
    assert plan["io"]["streams"] is True


def test_a_full_buffer_of_a_stream_is_large(profile):
    """A C++ stream's full buffer, like that of C's stdout, is 4096 bytes."""
    full = with_calls(profile, "write", count=100, bytes=100 * 4096)
    plan = planned(body_of(with_site(full, WRITES, call="_ZNSo5writeEPKcl")))
    assert 1 not in [phase for phase, *_ in places(plan)]
    assert "from 4096 bytes on" in refusals(plan)[1]
    assert plan["io"]["streams"] is False


@pytest.mark.parametrize(
    ("call", "size", "taken"),
    [
        ("write", 4095, True),
        ("write", 4096, False),
        ("fflush", 4096, True),
        ("fflush", 16383, True),
        ("fflush", 16384, False),
    ],
)
def test_large_records_are_refused_with_their_size(profile, call, size, taken):
    calls = with_calls(profile, "write", count=10, bytes=10 * size)
    plan = planned(body_of(with_site(calls, WRITES, call=call)))
    assert (1 in [phase for phase, *_ in places(plan)]) is taken
    assert (f"of {size:.3g} bytes on average to files" in refusals(plan).get(1, "")) is (not taken)


def test_large_records_in_one_function_leave_small_ones_in_another(profile):
    plan = planned(body_of(beside(profile, "write", 100, 65536, line=52)))
    assert (1, "checkpoint", ["write"]) in places(plan)
    assert (1, "exchange", ["write"]) not in places(plan)
    assert "of 6.55e+04 bytes on average" in refusals(plan)[1]


@pytest.mark.parametrize(
    ("full", "size", "taken"), [(99, 4096, True), (100, 4096, False), (100, 511, True)]
)
def test_a_stream_that_fills_its_buffer_gets_no_flush(profile, full, size, taken):
    """Small writes, in contrast, belong to another stream, which has no buffer."""
    flushed = with_site(profile, WRITES, call="fflush")
    plan = planned(body_of(beside(flushed, "fputs", full, size)))
    assert ((1, "checkpoint", ["fflush"]) in places(plan)) is taken
    if not taken:
        assert "streams fill their buffers" in refusals(plan)[1]


def test_a_function_that_writes_in_both_ways_is_one_site(profile):
    plan = planned(body_of(beside(profile, "fflush", 100, 40)))
    assert (1, "checkpoint", ["fflush", "write"]) in places(plan)
    evidence = plan["io"]["sites"][0]["evidence"]
    assert f"{MADE} by write here" in evidence
    assert f"{MADE} by fflush here" in evidence


def test_a_refusal_tells_how_many_transfers_it_is_about(profile):
    body = body_of(with_calls(profile, "sendto", count=90, bytes=90 * 5000))
    refused = [one for one in planned(body)["refused"] if one["what"] == "I/O path"]
    assert [one["count"] for one in refused] == [90 * SOCKET_ROWS * CYCLES]
    assert refused[0]["reason"].startswith(f"{90 * SOCKET_ROWS * CYCLES} writes of ")


def test_off_plans_nothing(profile):
    plan = planned(body_of(profile), "off")
    assert plan["io"] == {
        "mode": "off",
        "reason": "not wanted (--io=off)",
        "streams": False,
        "sites": [],
    }
    assert plan["needs"]["io_paths"] is False
    assert refusals(plan) == {}


def test_a_plan_with_nothing_says_so(profile):
    reads = with_calls(with_calls(profile, "write", name="read"), "sendto", name="recvfrom")
    plan = planned(body_of(reads))
    assert plan["io"]["mode"] == "off"
    assert plan["io"]["reason"].startswith("no phase makes many small writes to files")
    assert plan["needs"]["io_paths"] is False


def few(body: dict[str, Any], count: int) -> dict[str, Any]:
    """The phases, with `count` writes in phase 1."""
    body["phases"][1]["kind"] = "file-io"
    (made,) = body["phases"][1]["writes"]
    made |= {"count": count, "bytes": RECORD * count}
    return body


def test_few_records_are_refused(profile):
    """The limit: one write per million instructions is a thousand per second."""
    body = body_of(profile)
    rows = round(body["phases"][1]["weight"] * len(body["instructions"]))
    assert 1 not in refusals(planned(few(body, rows + 1)))
    assert "too few for a ring" in refusals(planned(few(body, rows - 1)))[1]


def test_a_burst_in_each_stay_is_enough(profile):
    body = body_of(profile)
    body["instructions"] = [1000 * executed for executed in body["instructions"]]
    assert 1 not in refusals(planned(few(body, BURST * CYCLES)))
    assert 1 in refusals(planned(few(body, BURST * CYCLES - 1)))


def test_devices_are_nobodys_concern(profile):
    terminal = with_calls(with_calls(profile, "write", descriptor="device"), "sendto", bytes=0)
    plan = planned(body_of(terminal))
    assert 1 not in [phase for phase, *_ in places(plan)]
    assert refusals(plan) == {}


def test_calls_that_no_library_function_makes_are_refused(profile):
    for unknown in with_site(profile, WRITES, call=""), with_calls(profile, "write", site=None):
        plan = planned(body_of(unknown))
        assert 1 not in [phase for phase, *_ in places(plan)]
        assert "by no known function of the C library" in refusals(plan)[1]


def test_a_program_that_is_not_known_is_refused(profile):
    plan = planned(body_of(with_site(profile, WRITES, function="", file="")))
    assert 1 not in [phase for phase, *_ in places(plan)]
    assert f"does not tell in which function {MADE} of them are" in refusals(plan)[1]


def test_functions_without_checksums_have_no_file(profile):
    """Only the symbol is known for them; a line's file may be a header."""
    plan = planned(body_of(replace(profile, functions=())))
    assert [(site["function"], site["file"]) for site in plan["io"]["sites"]] == [
        ("checkpoint", None),
        ("exchange", None),
    ]


def test_phases_without_writes_are_damaged(profile):
    body = body_of(profile)
    del body["phases"][1]["writes"]
    with pytest.raises(ArtefactError, match=r"phases\[1\].writes is missing"):
        parse(body, PATH)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("write", "write"),
        ("__write", "write"),
        ("__libc_write", "write"),
        ("__GI___write", "write"),
        ("_IO_fflush", "fflush"),
        ("fflush@@GLIBC_2.2.5", "fflush"),
        ("__send", "send"),
        ("fwrite@@GLIBC_2.2.5", "fwrite"),
        ("read", "read"),
    ],
)
def test_library_functions_are_known_by_any_of_their_names(symbol, name):
    assert io_calls.library_name(symbol) == name


def test_a_mode_that_nobody_knows_is_refused(profile):
    for mode in "default", "fast":
        with pytest.raises(UsageError, match=f"--io takes strict, off, not '{mode}'"):
            planned(body_of(profile), mode)
