# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that are instrumented where it is difficult: in interrupts, exceptions and recursions,
in tasks that end or stay, and in the instrument itself.
"""

import errno
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from test_kadapt_probe import COUNT, HERE, TIME, Driver, driver, recording, records

from kadence.observe.probes.results import Record

__all__ = ["driver"]
pytestmark = pytest.mark.kernel

DEPTH = 40
CONTEXTS = (
    ("contexts_recurse", TIME),
    ("contexts_outer", TIME),
    ("contexts_in_interrupt", TIME),
    ("contexts_in_exception", TIME),
    ("contexts_stay", TIME),
    ("contexts_wide", COUNT),
    ("probe_ioctl", TIME),  # the instrument's own
)
SPIN_NS = 1_000_000
# Addresses in a module are known when the module is loaded.
LIST = (
    """
insmod /contexts.ko || exit 94
list() {
	while [ $# -gt 0 ]; do
		sed -n "s/^\\([0-9a-f]*\\) [tT] $1\\t.*/\\1 $2/p" /proc/kallsyms
		shift 2
	done
}
"""
    + f"list {' '.join(f'{name} {kind}' for name, kind in CONTEXTS)} >/functions\n"
)
CALLS = """
for what in recurse interrupt exception wide; do echo $what >/proc/contexts || exit 95; done
/probe /functions /out2 -- true 2>/dev/null
true
"""
# Each observation ends while a task is in contexts_stay(), and another one in its exit.
STAYING = """
stays() {
	/probe -p $$ -s 1 $1 /functions /out &
	observer=$!
	sleep 0.3
	(echo stay >/proc/contexts && echo left >>/left) &
	(/exiting 3000 && echo ended >>/left) &
	wait $observer || exit 96
}
symbol() { sed -n "s/^\\([0-9a-f]*\\) [tT] $1$/\\1 1/p" /proc/kallsyms; }
symbol vfs_write >>/functions
symbol do_exit >>/functions
(echo stay >/proc/contexts && echo left >>/left) &
stays ""
stays "-e /events"
/probe /functions /out -- true || exit 93
rmmod kadapt_probe 2>/dev/null && exit 97
echo go >/proc/contexts
sleep 4
rmmod kadapt_probe 2>/dev/null && exit 98
echo go >/proc/contexts
echo go >/proc/contexts
sleep 1
[ "$(sort /left | uniq -c | tr -s " \\n" " ")" = " 2 ended 3 left " ] || exit 99
rmmod contexts || exit 90
rmmod kadapt_probe || exit 89
dmesg | grep "still in a function"
"""


@pytest.fixture(scope="module")
def contexts(module_of: Callable[[Path], Path]) -> Path:
    """The module whose functions are called in every context."""
    return module_of(HERE / "contexts.c")


def by_name(console: str) -> dict[str, list[Record]]:
    """The records of each function, of all tasks."""
    found: dict[str, list[Record]] = {name: [] for name, _ in CONTEXTS}
    for block in records(console).blocks:
        for record in block.records:
            found[CONTEXTS[record.function][0]].append(record)
    return found


def test_every_context_is_recorded(driver: Driver, contexts: Path) -> None:
    files = {"contexts.ko": contexts, "calls.sh": CALLS.encode()}
    found = by_name(driver.run(LIST + recording("sh /calls.sh"), files))
    totals = {name: sum(record.calls for record in each) for name, each in found.items()}
    assert totals == {
        "contexts_recurse": DEPTH,
        "contexts_outer": 2,
        "contexts_in_interrupt": 1,
        "contexts_in_exception": 1,
        "contexts_stay": 0,
        "contexts_wide": 1,
        "probe_ioctl": 1,
    }
    [recursion] = found["contexts_recurse"]
    # All but the outermost call are part of another one.
    assert 0 < recursion.inclusive - recursion.children < recursion.inclusive / DEPTH * 2
    [outer] = found["contexts_outer"]
    [interrupt], [exception] = found["contexts_in_interrupt"], found["contexts_in_exception"]
    assert outer.children == interrupt.inclusive + exception.inclusive
    assert SPIN_NS < outer.inclusive < 1.1 * SPIN_NS


def test_tasks_that_stay_keep_the_module_only(
    driver: Driver, contexts: Path, guest_program: Callable[[Path], Path]
) -> None:
    files = {"contexts.ko": contexts, "exiting": guest_program(HERE / "exiting.c")}
    console = driver.run(LIST + STAYING, files)
    assert console.count("is still in a function that was observed; tasks like it: 2") == 2


HOT = [
    *("vfs_write", "vfs_read", "pipe_read", "pipe_write", "schedule", "try_to_wake_up"),
    *("copy_process", "do_exit", "kmem_cache_free", "lookup_fast", "sched_tick"),
    "handle_softirqs",
]
LOAD = """
for each in 1 2 3 4 5; do /phases 3000 300 & done
dd if=/dev/zero of=/dev/null bs=64k count=300 2>/dev/null
find /sys >/dev/null
wait
"""
WRITES = 5 * 3100


@pytest.mark.parametrize("processors", [1, 2])
def test_tasks_that_are_preempted_anywhere(driver: Driver, processors: int) -> None:
    """Interrupts preempt in the stubs, too. With two processors, tasks change between them."""
    files = {"functions": driver.listed([(name, TIME) for name in HOT]), "load.sh": LOAD.encode()}
    arguments = ["quiet", "nokaslr", "preempt=full", "tsc=reliable"]
    console = driver.run(recording("sh /load.sh"), files, processors=processors, parallel=False,
                         kernel_arguments=arguments)  # fmt: skip
    found = records(console)
    assert (found.costs.tasks_lost, found.costs.stays_lost) == (0, 0)
    writing = [
        record
        for block in found.blocks
        for record in block.records
        if block.name == "phases" and HOT[record.function] == "vfs_write"
    ]
    turns = 5 * 2 * 300
    assert sum(record.calls for record in writing) == WRITES + turns
    elapsed = sum(block.elapsed - block.away for block in found.blocks)
    for block in found.blocks:
        for record in block.records:
            assert 0 <= record.inclusive <= elapsed, (block, record)
            assert all(waited <= block.elapsed * DEPTH for waited in record.waited), block


def test_other_tasks_are_not_recorded(driver: Driver) -> None:
    files = {"functions": driver.listed([("vfs_write", TIME), ("write_null", COUNT)])}
    script = "dd if=/dev/zero of=/dev/null bs=1 count=20000 2>/dev/null &\n"
    command = "dd if=/dev/zero of=/dev/null bs=1 count=100"
    found = records(driver.run(script + recording(command), files))
    assert [[record.calls for record in block.records if record.function == 1]
            for block in found.blocks if block.process] == [[100]]  # fmt: skip


REFUSED = {
    "kind": "EINVAL",
    "tracepoint": "ENOENT",
    "reserved": "EINVAL",
    "few-events": "EINVAL",
    "many-events": "EINVAL",
    "address": "ENOENT",
    "user-address": "ENOENT",
    "twice": "EINVAL",
    "none": "EINVAL",
    "many": "EINVAL",
    "pointer": "EFAULT",
    "argument": "EFAULT",
    "call": "ENOTTY",
    "early-task": "ENOTCONN",
    "early-map": "ENOTCONN",
    "arm": "",
    "again": "EALREADY",
    "other": "EBUSY",
    "other-task": "ENOTCONN",
    "writable-map": "EPERM",
    "map": "",
    "ended-task": "ESRCH",
    "no-task": "ESRCH",
    "large-task": "ESRCH",
    "task": "",
    "same-task": "EEXIST",
    "user": "EACCES",
}


def test_what_makes_no_sense_is_refused(
    driver: Driver, guest_program: Callable[[Path], Path]
) -> None:
    [line] = driver.listed([("vfs_write", TIME)]).decode().splitlines()
    program = guest_program(HERE / "refusals.c")
    console = driver.run(f"/refusals {line.split()[0]}\nrmmod kadapt_probe", {"refusals": program})
    told = re.findall(r"^([a-z-]+) (\d+)$", console, re.MULTILINE)
    codes = {
        name: errno.errorcode.get(int(code), "") for name, code in told if "status" not in name
    }
    assert codes == REFUSED
