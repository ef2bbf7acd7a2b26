# SPDX-License-Identifier: GPL-2.0-or-later
"""Tracepoints: how often each is passed, by phase, and that timed callers do not contain them."""

import base64
import struct
from collections.abc import Sequence
from statistics import median

import pytest
from test_kadapt_probe import TIME, Driver, driver, recording, records

from kadence.live.kernel import kallsyms_of
from kadence.observe.probes.results import NO_PHASE, Results

__all__ = ["driver"]
pytestmark = pytest.mark.kernel

WRITES, TURNS = 500, 200
POINT = 4
WRITING, TAKING_TURNS, RESTING, FORKING = 1, 2, 3, 4
EVENT = struct.Struct("<QQIiII")
RECORD_BYTES = 576
POINTS = ["sys_enter", "sched_process_fork", "sched_process_exit", "sched_waking"]
TIMED = ["pipe_write", "vfs_write"]
# With these, more functions are instrumented than have a stub of their own.
MORE = [f"__x64_sys_{name}" for name in (
    "openat", "close", "mmap", "munmap", "brk", "dup", "chdir", "read", "write", "fchdir",
    "getdents64", "getcwd", "sync", "pipe2")]  # fmt: skip
COMMAND = f"/phases {WRITES} {TURNS}"
PAGES = 2048
PAIRS = 6
FAULTS = f"dd if=/dev/zero of=/dev/null bs={4 * PAGES}k count=1"


def points(driver: Driver, names: Sequence[str]) -> bytes:
    """Tracepoints, in the file that the tool reads."""
    known = {row.split()[2]: row.split()[0] for row in kallsyms_of(driver.release)}
    return "".join(f"{known[f'__tracepoint_{name}']} {POINT}\n" for name in names).encode()


def listed(driver: Driver, more: Sequence[str] = ()) -> bytes:
    """All tracepoints, and functions, in that file."""
    functions = [(name, TIME) for name in (*TIMED, *more)]
    return points(driver, POINTS) + driver.listed(functions)


def calls(found: Results, phase: int, function: int) -> int:
    return sum(
        record.calls
        for block in found.blocks
        for record in block.records
        if (block.phase, record.function) == (phase, function)
    )


@pytest.mark.parametrize("more", [[], MORE], ids=["own", "shared"])
def test_points_are_counted_by_phase(driver: Driver, more: list[str]) -> None:
    files = {"functions": listed(driver, more)}
    found = records(driver.run(recording(COMMAND), files))
    enter, fork, leave, _ = range(len(POINTS))
    # A phase's last call enters the next phase. In the first one are two pipes and a fork, too.
    assert calls(found, WRITING, enter) == WRITES + 4
    assert calls(found, WRITING, len(POINTS) + TIMED.index("vfs_write")) == WRITES
    assert calls(found, RESTING, enter) == 2
    assert calls(found, FORKING, enter) == len(["fork", "wait", "exit"])
    assert (calls(found, WRITING, fork), calls(found, FORKING, fork)) == (1, 1)
    assert (calls(found, NO_PHASE, leave), calls(found, FORKING, leave)) == (2, 1)


def test_points_alone_need_no_function(driver: Driver) -> None:
    files = {"functions": points(driver, ["sys_enter"])}
    found = records(driver.run(recording(COMMAND), files))
    assert calls(found, WRITING, 0) == WRITES + 4


def test_a_timed_caller_does_not_contain_points(driver: Driver) -> None:
    """A page fault allocates a page. The same runs without the point tell the truth."""
    faults = driver.listed([("handle_mm_fault", TIME)])
    files = {"few": faults, "many": faults + points(driver, ["mm_page_alloc"])}
    # The first run fills caches. An interrupt in a fault moves a run's mean by up to 8 ticks.
    script = "echo never >/sys/kernel/mm/transparent_hugepage/enabled\n"
    script += "".join(recording(FAULTS, name) for name in ("/few", *("/few", "/many") * PAIRS))
    _, *runs, _ = driver.run(script, files).split("= end")
    plain, pointed = ([records(run) for run in runs[first::2]] for first in (0, 1))
    assert all(calls(run, NO_PHASE, 1) > PAGES for run in pointed)
    cost = pointed[0].costs.calls[POINT]
    assert cost > 10
    # The instructions that pass on the point's arguments are the function's own.
    expected = median(map(faults_mean, plain))
    assert median(map(faults_mean, pointed)) == pytest.approx(expected, abs=cost / 2)


def faults_mean(found: Results) -> float:
    """Ticks of a page fault."""
    rows = [record for block in found.blocks for record in block.records if record.function == 0]
    return sum(row.inclusive for row in rows) / sum(row.calls for row in rows)


def test_points_are_events(driver: Driver) -> None:
    script = (
        f"/probe -e /events /functions /out -- {COMMAND} || exit 93\n"
        "echo '= records'; cat /out; echo '= end'\necho '= events'; base64 /events; echo '= end'\n"
    )
    console = driver.run(script, {"functions": listed(driver)})
    found = records(console)
    _, _, rest = console.partition("= events\n")
    text, _, _ = rest.partition("= end")
    raw = base64.b64decode(text)
    rows = [EVENT.unpack_from(raw, at) for at in range(len(raw) % EVENT.size, len(raw), EVENT.size)]
    phases = {block.phase for block in found.blocks}
    for number, name in enumerate(POINTS):
        own = [row for row in rows if row[0] and row[2] == number * RECORD_BYTES]
        assert len(own) == sum(calls(found, phase, number) for phase in phases), name
        assert all(begin == end for begin, end, *_ in own)
