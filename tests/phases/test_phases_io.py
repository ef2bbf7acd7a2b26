# SPDX-License-Identifier: GPL-2.0-or-later
"""Which writes get rings and batches, which reads windows, and what the plan says of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planted import CYCLES, FILE_ROWS, LIBC, LOG, OUTER, SOCKET_ROWS, block, three_phases

from kadence.errors import UsageError
from kadence.phases import io_calls, planning
from kadence.phases.analysis import describe
from kadence.phases.document import parse
from kadence.phases.io_records import BURST
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


def reading(profile: Profile, name: str, call: str, entered: str = "read") -> Profile:
    """The profile, but what was the system call `name` now reads from a file.

    The C library's function of the same meaning becomes `entered`.
    """
    library = {"write": "write", "sendto": "send"}[name]
    blocks = tuple(
        replace(known, function=entered) if known.function == library else known
        for known in profile.blocks
    )
    return replace(with_calls(profile, name, name=call, descriptor="file"), blocks=blocks)


@pytest.fixture
def profile() -> Profile:
    return three_phases().profile()


@pytest.fixture
def reader(profile: Profile) -> Profile:
    """Phase 2 reads 64 bytes at a time in `exchange`, phase 1 writes."""
    return reading(profile, "sendto", "read")


def test_a_refusal_tells_how_many_transfers_it_is_about(profile):
    body = body_of(with_calls(profile, "sendto", count=90, bytes=90 * 5000))
    refused = [one for one in planned(body)["refused"] if one["what"] == "I/O path"]
    assert [one["count"] for one in refused] == [90 * SOCKET_ROWS * CYCLES]
    assert refused[0]["reason"].startswith(f"{90 * SOCKET_ROWS * CYCLES} writes of ")


def test_what_the_library_was_entered_for_is_in_the_phases(profile):
    phases = body_of(profile)["phases"]
    writers = [phase["writers"] for phase in phases]
    nobody = {"calls": [], "functions": [], "streams": False}
    assert writers[0] == nobody
    assert writers[1]["calls"] == [{"name": "write", "count": FILE_WRITES}]
    assert writers[2]["calls"] == [{"name": "send", "count": SENDS}]
    assert [phase["readers"] for phase in phases] == [nobody] * 3


def test_readers_are_told_from_writers(reader):
    phases = body_of(reader)["phases"]
    assert phases[1]["writers"]["calls"] == [{"name": "write", "count": FILE_WRITES}]
    assert phases[1]["readers"]["calls"] == phases[2]["writers"]["calls"] == []
    assert phases[2]["readers"]["calls"] == [{"name": "read", "count": SENDS}]
    function = {"function": "exchange", "file": "planted.c", "cfg_checksum": "0000cccc"}
    assert phases[2]["readers"]["functions"] == [function | {"count": SENDS}]


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


@pytest.mark.parametrize("mode", ["default", "strict"])
def test_small_reads_are_planned_beside_writes(reader, mode):
    """The loader's are in a compute phase, and nobody's concern."""
    plan = planned(body_of(reader), mode)
    assert places(plan) == [(1, None, "planted.c"), (2, "exchange", "planted.c")]
    site = plan["io"]["sites"][1]
    assert site["calls"] == ["__read_chk", "read"]
    assert site["cfg_checksum"] == "0000cccc"
    assert f"{SENDS} reads of 64 bytes on average from files" in site["evidence"]
    assert f"a block of the function ran {SENDS} times" in site["evidence"]
    assert [refusal["what"] for refusal in plan["refused"]] == []


def test_a_fortified_read_is_counted_once(reader):
    """It enters two functions of the C library's; `compute` runs oftener than there are reads."""
    library = {"function": "__read_chk", "file": "", "object": LIBC}
    blocks = tuple(
        replace(known, **library) if known.function == "log_line" else known
        for known in reader.blocks
    )
    planted = three_phases()
    for call in planted.calls:
        if call.name == "sendto":
            planted.enter(call.interval, LOG, call.count)
            planted.enter(call.interval, OUTER, 1.5 * call.count)
    fortified = replace(reader, blocks=blocks, counts=planted.profile().counts)
    readers = body_of(fortified)["phases"][2]["readers"]
    assert readers["calls"] == [{"name": "read", "count": SENDS}]
    assert [function["function"] for function in readers["functions"]] == ["exchange"]


def test_a_program_that_only_reads_has_paths(profile):
    reads = reading(reading(profile, "sendto", "read"), "write", "read")
    plan = planned(body_of(reads))
    assert {call for site in plan["io"]["sites"] for call in site["calls"]} == {
        "__read_chk",
        "read",
    }
    assert plan["io"]["mode"] == "default"
    assert plan["io"]["streams"] is False
    assert plan["needs"]["io_paths"] is True


def test_off_plans_no_reads(reader):
    plan = planned(body_of(reader), "off")
    assert plan["io"]["sites"] == []
    assert refusals(plan, "window") == {}


@pytest.mark.parametrize(("size", "taken"), [(2048, True), (2049, False), (4096, False)])
def test_large_reads_are_refused_with_their_size(reader, size, taken):
    """A stream of the C library reads 4,096 bytes at once."""
    plan = planned(body_of(with_calls(reader, "read", bytes=60 * size, count=60)))
    assert (2 in [phase for phase, _, _ in places(plan)]) is taken
    assert (2 in refusals(plan, "window")) is not taken
    if not taken:
        assert "above 2048 bytes" in refusals(plan, "window")[2]
        assert "streams read 4096 bytes or more" in refusals(plan, "window")[2]


@pytest.mark.parametrize(
    ("count", "taken", "told"),
    [
        (BURST * CYCLES, True, False),
        (BURST * CYCLES - 1, False, True),
        (BURST - 1, False, False),
    ],
)
def test_few_reads_are_refused(reader, count, taken, told):
    """Where the phase is so long that only a burst in each stay makes them many."""
    body = body_of(reader)
    body["instructions"] = [1000 * executed for executed in body["instructions"]]
    for call in body["phases"][2]["system_calls"]:
        call["count"] = count
    plan = planned(body)
    assert (2 in [phase for phase, _, _ in places(plan)]) is taken
    assert ("too few for a window" in refusals(plan, "window").get(2, "")) is told


@pytest.mark.parametrize("name", ["pread64", "readv"])
def test_reads_that_do_not_go_on_in_turn_are_refused(profile, name):
    plan = planned(body_of(reading(profile, "sendto", name, entered=name)))
    assert 2 not in [phase for phase, _, _ in places(plan)]
    assert f"{SENDS} reads of 64 bytes" in refusals(plan, "window")[2]
    assert f"by {name}, and a window is for what read takes in turn" in refusals(plan, "window")[2]


@pytest.mark.parametrize("descriptor", ["pipe", "socket", "device"])
def test_windows_are_for_files_alone(reader, descriptor):
    plan = planned(body_of(with_calls(reader, "read", descriptor=descriptor)))
    assert 2 not in [phase for phase, _, _ in places(plan)]
    assert refusals(plan, "window") == {}


def test_reads_by_no_function_that_is_known_are_refused(profile):
    plan = planned(body_of(reading(profile, "sendto", "read", entered="")))
    assert "by no function of the C library's" in refusals(plan, "window")[2]


def test_streams_that_read_are_told_of(reader):
    blocks = tuple(
        replace(known, function="_IO_file_read") if known.function == "log_line" else known
        for known in reader.blocks
    )
    planted = three_phases()
    for call in planted.calls:
        if call.name == "sendto":
            planted.enter(call.interval, LOG, call.count)
    plan = planned(body_of(replace(reader, blocks=blocks, counts=planted.profile().counts)))
    assert any("by streams, which stay" in site["evidence"] for site in plan["io"]["sites"])
    assert plan["io"]["streams"] is False


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
        ("read", "read"),
        ("__libc_read", "read"),
        ("__read_chk", "__read_chk"),
        ("memcpy", None),
        ("fread", None),
        ("pread64", None),
    ],
)
def test_library_functions_are_known_by_any_of_their_names(symbol, name):
    assert io_calls.library_name(symbol) == name


def test_a_family_is_planned_as_a_whole():
    assert io_calls.with_families({"write"}) == ["write"]
    assert io_calls.with_families({"read"}) == ["__read_chk", "read"]
    assert io_calls.with_families({"pwrite64", "send"}) == ["pwrite", "pwrite64", "send"]
    assert {"fwrite", "puts", "__printf_chk"} <= set(io_calls.with_families({"fprintf"}))


def test_a_mode_that_nobody_knows_is_refused(profile):
    with pytest.raises(UsageError, match="--io takes default, strict, off, not 'fast'"):
        planned(body_of(profile), "fast")
