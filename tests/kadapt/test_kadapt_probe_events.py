# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of timed calls, waits and phases: each is there, once, where it was."""

import base64
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from test_kadapt_probe import COUNT, REST_NS, TIME, Driver, driver, records

from kadence.observe.probes.results import NO_PHASE, Results

__all__ = ["driver"]
pytestmark = pytest.mark.kernel

WRITES, TURNS, RESTING = 60, 30, 3
RECORD_BYTES, EVENT = 576, struct.Struct("<QQIiII")
PHASE, WAIT = 0x40000000, 0x80000000
NAMES = ["__x64_sys_pwrite64", "vfs_write", "do_nanosleep", "do_exit", "anon_pipe_buf_release"]
KINDS = [TIME, TIME, TIME, TIME, COUNT]
# With these, more functions are instrumented than have a stub of their own.
MORE = [f"__x64_sys_{name}" for name in (
    "openat", "close", "mmap", "munmap", "brk", "dup", "chdir", "read", "write", "fchdir",
    "getdents64", "getcwd", "sync", "pipe2")]  # fmt: skip
SCRIPT = f"""
/probe -e /events /functions /out -- /phases {WRITES} {TURNS} || exit 93
echo '= records'; cat /out; echo '= end'
echo '= events'; base64 /events; echo '= end'
"""


@dataclass(frozen=True)
class Event:
    """A row of the tool's file."""

    begin: int
    end: int
    what: int
    task: int
    processor: int
    zero: int


@dataclass(frozen=True)
class Seen:
    """What the records and the events say of the same run."""

    found: Results
    lost: int
    events: Sequence[Event]

    def of(self, function: str) -> list[Event]:
        """The calls of a function."""
        return [each for each in self.events if each.what == NAMES.index(function) * RECORD_BYTES]


@pytest.fixture(scope="module", params=["own", "shared", "two processors"])
def seen(driver: Driver, request: pytest.FixtureRequest) -> Seen:
    functions = list(zip(NAMES, KINDS, strict=True))
    if request.param == "shared":
        functions += [(name, TIME) for name in MORE]
    machine = {}
    if request.param == "two processors":
        arguments = ["quiet", "nokaslr", "preempt=full", "tsc=reliable"]
        machine = {"processors": 2, "parallel": False, "kernel_arguments": arguments}
    console = driver.run(SCRIPT, {"functions": driver.listed(functions)}, **machine)
    text = console.partition("= events\n")[2].partition("= end")[0]
    first, *events = (Event(*row) for row in EVENT.iter_unpack(base64.b64decode(text)))
    return Seen(records(console), first.begin, events)


def test_each_timed_call_is_one_event(seen: Seen) -> None:
    assert seen.lost == 0
    counted = Counter(each.what // RECORD_BYTES for each in seen.events if each.what < PHASE)
    recorded: Counter[int] = Counter()
    for block in seen.found.blocks:
        for record in block.records:
            recorded[record.function] += record.calls
    del recorded[NAMES.index("anon_pipe_buf_release")]
    assert counted == recorded
    assert counted[NAMES.index("__x64_sys_pwrite64")] == WRITES + 100


def test_calls_lie_within_their_callers(seen: Seen) -> None:
    outer, inner = seen.of("__x64_sys_pwrite64"), seen.of("vfs_write")
    task = outer[0].task
    writes = [each for each in inner if each.task == task]
    for call in outer:
        assert sum(call.begin < each.begin < each.end < call.end for each in writes) == 1


def test_the_end_of_a_task_is_the_end_of_its_calls(seen: Seen) -> None:
    assert len({each.task for each in seen.of("do_exit")}) == len(seen.of("do_exit")) == 3
    assert all(each.begin < each.end for each in seen.of("do_exit"))


def test_a_wait_lies_within_its_call_and_phase(seen: Seen) -> None:
    [call] = seen.of("do_nanosleep")
    [phase] = [each for each in seen.events if each.what == PHASE + RESTING]
    waits = [each for each in seen.events if each.what >= WAIT and each.task == call.task]
    waited = [each for each in waits if call.begin < each.begin < each.end < call.end]
    ns = sum(seen.found.costs.ns(each.end - each.begin) for each in waited)
    assert ns > REST_NS * 0.95
    assert phase.begin < call.begin < call.end < phase.end


def test_phases_are_events(seen: Seen) -> None:
    phases = Counter(each.what - PHASE for each in seen.events if PHASE <= each.what < WAIT)
    blocks = {block.phase for block in seen.found.blocks}
    assert set(phases) == blocks - {NO_PHASE}
    assert phases[RESTING] == 1


def test_events_cost_what_is_subtracted(seen: Seen) -> None:
    costs = seen.found.costs
    # Also where other work of the host disturbs the calibration.
    assert costs.inner < costs.calls[TIME]
    if costs.ticks_khz == 1_000_000:  # a tick is an instruction
        assert costs.calls[TIME] <= 61
