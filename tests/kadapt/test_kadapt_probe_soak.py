# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that are instrumented and let go under load, on kernels that check themselves.

With one processor the kernel preempts anywhere. With two, which take turns, tasks change between
them, and a tenth of the cycles is made. A cycle takes seconds, because each of its grace periods
waits for all tasks of a busy kernel. That mistakes are found is shown on drivers that have one.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_kadapt_soak import (
    BEGIN,
    CHECKS,
    END,
    MEMORY_CHECKED,
    MEMORY_MEGABYTES,
    RACE_CHECKED,
    Mistake,
    complaints_about_us,
    run_checked,
)

from kadence import boot
from kadence.base.errors import GuestError
from kadence.boot import qemu
from kadence.kconfig.store.build import BuildRequest, build

pytestmark = [pytest.mark.soak, pytest.mark.kernel, pytest.mark.timeout(0)]

HERE = Path(__file__).resolve().parent
CYCLES = int(os.environ.get("KADENCE_CYCLES") or 10_000)
# With two processors, and to find a mistake.
CYCLES_OF_TWO, CYCLES_FOR_MISTAKES = max(CYCLES // 10, 1), 10
LONGEST_SECONDS = 12 * 3600.0
TRACER = ("FTRACE", "FUNCTION_TRACER", "DYNAMIC_FTRACE")
OVERRIDES = tuple((name, "y") for name in (*TRACER, "KADAPT_PROBE"))
TIME, BYTES_LONG, COUNT, POINT = 1, 2, 0, 4
FUNCTIONS = {
    **dict.fromkeys(("schedule", "do_nanosleep", "copy_process", "do_exit", "wake_up_new_task",
                     "handle_mm_fault", "do_wait", "do_futex", "dput", "path_openat", "__fput",
                     "kmem_cache_free", "hrtimer_interrupt", "do_send_specific", "getname_flags",
                     "exit_mmap", "do_group_exit"), TIME),
    **dict.fromkeys(("vfs_write", "vfs_read", "ksys_read"), BYTES_LONG),
    **dict.fromkeys(("try_to_wake_up", "update_process_times", "kfree"), COUNT),
    **dict.fromkeys(("__tracepoint_sched_waking", "__tracepoint_sched_switch",
                     "__tracepoint_kmem_cache_free"), POINT),
}  # fmt: skip
LOAD = """
while read name kind; do
	sed -n "s/^\\([0-9a-f]*\\) [tTdD] $name\\$/\\1 $kind/p" /proc/kallsyms | head -1
done </names >/functions
echo "functions $(wc -l </functions)"
/crowd 2 none &
(while :; do dd if=/dev/zero of=/tmp/file bs=512 count=100 2>/dev/null; done) &
(while :; do cat /proc/self/maps >/dev/null; done) &
/attach /functions @CYCLES@
echo "program's status $?"
kill -9 -1
sleep 3
cd /
"""
TOLD = re.compile(
    r"^cycles (\d+) refused (\d+) functions (\d+) tasks (\d+) calls (\d+)$", re.MULTILINE
)

UnderLoad = Callable[[Any, int, int], str]


@pytest.fixture
def under_load(guest_program: Callable[[Path], Path], tmp_path: Path) -> UnderLoad:
    """The console of a guest that made so many cycles, with so many processors."""
    names = tmp_path / "names"
    names.write_text("".join(f"{name} {kind}\n" for name, kind in FUNCTIONS.items()))

    def run(kernel: Any, cycles: int, processors: int) -> str:
        sources = {"attach": HERE / "probe/attach.c", "crowd": HERE / "live/crowd.c"}
        files = {name: guest_program(path) for name, path in sources.items()} | {"names": names}
        script = LOAD.replace("@CYCLES@", str(cycles))
        if processors == 1:
            console = run_one(kernel, script, files)
        else:
            console = run_checked(kernel, script, files, parallel=False)
        told = TOLD.search(console)
        assert told, console
        print(f"{kernel.kind}, processors: {processors}; {told[0]}")
        assert int(told[1]) == cycles
        assert int(told[4]) > cycles, "no task was observed"
        assert int(told[5]) > cycles, "no call was recorded"
        return console

    return run


def run_one(kernel: Any, script: str, files: dict[str, Path]) -> str:
    """The console of a guest with one processor, whose clock counts instructions."""
    machine = qemu.Machine(
        kernel.image, memory_megabytes=MEMORY_MEGABYTES, timeout_seconds=LONGEST_SECONDS
    )
    outcome = qemu.run_script(machine, BEGIN + script + END, files)
    assert outcome.status == 0, outcome.console
    assert CHECKS[kernel.kind] in outcome.console, outcome.console
    return outcome.console


@pytest.mark.parametrize("processors", [1, 2])
@pytest.mark.parametrize("kind", [MEMORY_CHECKED, RACE_CHECKED])
def test_functions_are_instrumented_and_let_go(
    under_load: UnderLoad, kind: str, processors: int
) -> None:
    kernel = build(BuildRequest(kind=kind, target="x86_64", overrides=OVERRIDES))
    console = under_load(kernel, CYCLES if processors == 1 else CYCLES_OF_TWO, processors)
    assert complaints_about_us(console) == [], console


MISTAKES = [
    # mmap() takes the memory's lock and then ours.
    Mistake(
        name="copies under the lock",
        kind=MEMORY_CHECKED,
        file="probe/device.c",
        right="\tguard(mutex)(&session_lock);\n\tif (armed == file)\n\t\treturn -EALREADY;",
        wrong="\tu8 byte;\n\n\tguard(mutex)(&session_lock);\n"
        "\tif (get_user(byte, (u8 __user *)arm->functions))\n\t\treturn -EFAULT;\n"
        "\tif (armed == file)\n\t\treturn -EALREADY;",
        overrides=OVERRIDES,
        processors=1,
    ),
    # A stack has red zones between the variables of its functions.
    Mistake(
        name="reads stacks without a mark",
        kind=MEMORY_CHECKED,
        file="probe/frames.c",
        right="READ_ONCE_NOCHECK(word[1])",
        wrong="READ_ONCE(word[1])",
        overrides=OVERRIDES,
        processors=1,
    ),
    # A task that still runs on the other processor is found there by the next session.
    Mistake(
        name="leaves states loaded",
        kind=MEMORY_CHECKED,
        file="probe/hooks.c",
        right="on_each_cpu(unload, NULL, true);",
        wrong="(void)unload;",
        overrides=OVERRIDES,
    ),
    # The runqueue's lock is taken by interrupts.
    Mistake(
        name="leaves interrupts on",
        kind=MEMORY_CHECKED,
        file="probe/tasks.c",
        right="\traw_spin_lock_irqsave(&tasks_lock, flags);\n\t/* Of a task that ends now",
        wrong="\tflags = 0;\n\traw_spin_lock(&tasks_lock);\n\tlocal_irq_save(flags);\n"
        "\t/* Of a task that ends now",
        overrides=OVERRIDES,
        processors=1,
    ),
]


@pytest.mark.parametrize(
    "mistake", MISTAKES, ids=[mistake.name.replace(" ", "-") for mistake in MISTAKES]
)
def test_a_mistake_is_found(
    under_load: UnderLoad, mistaken_kernel: Callable[[Mistake], Any], mistake: Mistake
) -> None:
    kernel = mistaken_kernel(mistake)
    try:
        console = under_load(kernel, CYCLES_FOR_MISTAKES, mistake.processors)
    except GuestError as error:
        # It did not outlive the mistake.
        assert boot.complaints(str(error)), str(error)
        return
    complaints = complaints_about_us(console)
    print(f"{mistake.name}:", *complaints[:1], sep="\n")
    assert complaints, console
