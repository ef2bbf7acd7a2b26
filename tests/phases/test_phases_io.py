# SPDX-License-Identifier: GPL-2.0-or-later
"""Which writes get rings and batches, which do not, and what the plan says of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planted import CYCLES, FILE_ROWS, LIBC, SOCKET_ROWS, block, three_phases

from kadence.errors import UsageError
from kadence.phases import io_calls, planning
from kadence.phases.analysis import describe
from kadence.phases.document import parse
from kadence.phases.segmentation import segment
from kadence.profiler.profile import Profile, SystemCalls

FILE_WRITES = 100 * FILE_ROWS * CYCLES
SENDS = 60 * SOCKET_ROWS * CYCLES


def body_of(profile: Profile) -> dict[str, Any]:
    return describe(profile, segment(profile))


def planned(body: dict[str, Any], io: str = "default") -> dict[str, Any]:
    document = parse(body, Path("x.phases.json"))
    return planning.plan(document, planning.Options(io=io))


def places(plan: dict[str, Any]) -> list[tuple[int, str | None, str | None]]:
    return [(site["phase"], site["function"], site["file"]) for site in plan["io"]["sites"]]


def refusals(plan: dict[str, Any], what: str) -> dict[int, str]:
    return {r["phase"]: r["reason"] for r in plan["refused"] if r["what"] == what}


def with_calls(profile: Profile, name: str, /, **changes: Any) -> Profile:
    """The profile with other figures in the system calls of this name."""
    calls = tuple(
        replace(call, **changes) if call.name == name else call for call in profile.system_calls
    )
    return replace(profile, system_calls=calls)


@pytest.fixture
def profile() -> Profile:
    return three_phases().profile()


def test_what_the_library_was_entered_for_is_in_the_phases(profile):
    writers = [phase["writers"] for phase in body_of(profile)["phases"]]
    assert writers[0] == {"calls": [], "functions": [], "streams": False}
    assert writers[1]["calls"] == [{"name": "write", "count": FILE_WRITES}]
    assert writers[2]["calls"] == [{"name": "send", "count": SENDS}]


def test_a_function_that_runs_as_often_as_the_calls_is_a_site(profile):
    """`exchange` has a block that runs once for each send; nothing of the program's own runs
    beside the writes, so that every function of its files is taken."""
    plan = planned(body_of(profile))
    assert places(plan) == [(1, None, "planted.c"), (2, "exchange", "planted.c")]
    files, sockets = plan["io"]["sites"]
    assert (files["calls"], sockets["calls"]) == (["write"], ["send"])
    assert f"{FILE_WRITES} writes of 64 bytes on average to files" in files["evidence"]
    assert "does not tell which function" in files["evidence"]
    assert f"{SENDS} writes of 64 bytes on average to sockets" in sockets["evidence"]
    assert f"ran {SENDS} times" in sockets["evidence"]
    assert (files["cfg_checksum"], sockets["cfg_checksum"]) == (None, "0000cccc")
    assert plan["io"]["mode"] == "default"
    assert plan["io"]["streams"] is False
    assert plan["needs"]["io_paths"] is True


def test_strict_mode_has_no_rings_for_sockets_and_says_so(profile):
    plan = planned(body_of(profile), "strict")
    assert plan["io"]["mode"] == "strict"
    assert places(plan) == places(planned(body_of(profile)))
    assert "rings for files alone" in refusals(plan, "ring")[2]
    assert 1 not in refusals(plan, "ring")


def test_off_plans_nothing(profile):
    plan = planned(body_of(profile), "off")
    assert plan["io"] == {
        "mode": "off",
        "reason": "not wanted (--io=off)",
        "streams": False,
        "sites": [],
    }
    assert plan["needs"]["io_paths"] is False
    assert refusals(plan, "I/O path") == {}


def test_large_records_are_refused_with_their_size(profile):
    large = with_calls(profile, "write", count=10, bytes=10 * 65536)
    plan = planned(body_of(with_calls(large, "sendto", count=100, bytes=409_700)))
    assert plan["io"]["mode"] == "off"
    assert "no phase makes many writes" in plan["io"]["reason"]
    assert "of 6.55e+04 bytes on average to files" in refusals(plan, "I/O path")[1]
    assert "above 4096 bytes" in refusals(plan, "I/O path")[2]


def test_records_of_exactly_the_limit_are_taken(profile):
    exact = with_calls(profile, "sendto", count=100, bytes=409_600)
    assert 2 in [phase for phase, _, _ in places(planned(body_of(exact)))]


def test_few_records_are_refused(profile):
    """One in a row of a million instructions is a thousand a second; one in every other, half."""
    rows = sorted({call.interval for call in profile.system_calls if call.name == "write"})
    others = tuple(call for call in profile.system_calls if call.name != "write")
    every = tuple(SystemCalls(row, "write", "file", 1, 16) for row in rows)
    body = body_of(replace(profile, system_calls=others + every))
    body["phases"][1]["kind"] = "file-io"
    assert 1 not in refusals(planned(body), "I/O path")
    body = body_of(replace(profile, system_calls=others + every[::2]))
    body["phases"][1]["kind"] = "file-io"
    assert "too few for a ring" in refusals(planned(body), "I/O path")[1]


def test_devices_are_nobodys_concern(profile):
    terminal = with_calls(with_calls(profile, "write", descriptor="device"), "sendto", bytes=0)
    plan = planned(body_of(terminal))
    assert 1 not in [phase for phase, _, _ in places(plan)]
    assert refusals(plan, "I/O path") == {}


def test_reads_are_told_of_and_left(profile):
    """The loader's are in a compute phase and not told of."""
    reading = with_calls(profile, "write", name="read")
    plan = planned(body_of(reading))
    assert refusals(plan, "mapped reads").keys() == {1}
    assert f"{FILE_WRITES} reads of 64 bytes" in refusals(plan, "mapped reads")[1]


def test_a_program_that_is_not_known_is_refused(profile):
    unknown = tuple(
        replace(known, file="", function="", entry=False) if known.object != LIBC else known
        for known in profile.blocks
    )
    plan = planned(body_of(replace(profile, functions=(), blocks=unknown)))
    assert plan["io"]["mode"] == "off"
    assert "the profile knows no function" in refusals(plan, "I/O path")[1]


def test_calls_that_no_library_function_makes_are_refused(profile):
    unnamed = tuple(
        replace(known, function="") if known.object == LIBC else known for known in profile.blocks
    )
    plan = planned(body_of(replace(profile, blocks=unnamed)))
    assert plan["io"]["mode"] == "off"
    assert "by no function of the C library's" in refusals(plan, "I/O path")[1]


@pytest.mark.parametrize("name", ["_ZNSt13basic_filebufIcE8overflowEi", "_gfortran_st_write_done"])
def test_streams_of_cpp_and_fortran_are_seen(profile, name):
    stream = block(name, 0, entry=True, file="", object="/usr/lib/libstream.so")
    blocks = tuple(stream if known.function == "format" else known for known in profile.blocks)
    planted = three_phases()
    for call in planted.calls:
        if call.name == "write":
            planted.enter(call.interval, 6, call.count)
    plan = planned(body_of(replace(planted.profile(), blocks=blocks)))
    assert plan["io"]["streams"] is True


def test_functions_without_checksums_have_no_file(profile):
    """What is known of them is the symbol; the file of a line may be a header's."""
    plan = planned(body_of(replace(profile, functions=())))
    assert (2, "exchange", None) in places(plan)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("write", "write"),
        ("__write", "write"),
        ("__libc_write", "write"),
        ("__GI___write", "write"),
        ("_IO_fwrite", "fwrite"),
        ("fwrite@@GLIBC_2.2.5", "fwrite"),
        ("__fprintf_chk", "__fprintf_chk"),
        ("memcpy", None),
        ("read", None),
    ],
)
def test_library_functions_are_known_by_any_of_their_names(symbol, name):
    assert io_calls.library_name(symbol) == name


def test_a_family_is_planned_as_a_whole():
    assert io_calls.with_families({"write"}) == ["write"]
    assert io_calls.with_families({"pwrite64", "send"}) == ["pwrite", "pwrite64", "send"]
    assert {"fwrite", "puts", "__printf_chk"} <= set(io_calls.with_families({"fprintf"}))


def test_a_mode_that_nobody_knows_is_refused(profile):
    with pytest.raises(UsageError, match="--io takes default, strict, off, not 'fast'"):
        planned(body_of(profile), "fast")
