# SPDX-License-Identifier: GPL-2.0-or-later
"""Units that are removed and installed under load, on kernels that check themselves.

These kernels have no function tracer, so they are built with their unit. The load is processes
that sleep in the unit and outside of it, and others that begin and end with threads in phases. They
are killed, exit, fork, execute programs and close the device. That a call that sees half of a unit
is found, and so is an access without lock or mark, is shown on drivers with mistakes.

The two processors take turns in one thread of this machine (`parallel=False`), because QEMU before
8.1 may run a mixture of two instructions while a kernel changes its code. They change at each
interrupt, and wherever one of them waits: so a task is left at any instruction, but two processors
never are in the middle of an access at once. Where KCSAN delays an access, it waits, and the other
processor goes on.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from test_kadapt_live import HERE
from test_kadapt_soak import (
    MEMORY_CHECKED,
    RACE_CHECKED,
    Mistake,
    complaints_about_us,
    run_checked,
)

from kadence import boot
from kadence.base.errors import GuestError
from kadence.kconfig.store.build import BuildRequest, build

pytestmark = [pytest.mark.soak, pytest.mark.kernel, pytest.mark.timeout(0)]

UNITS = (HERE / "pair.c",)
PROGRAMS = ("cycles", "sleepers", "crowd")
CYCLES = int(os.environ.get("KADENCE_CYCLES") or 10_000)
# So many find each mistake.
CYCLES_FOR_MISTAKES = 100
# Processes that sleep, and processes that start others. More would only wait for one another, and
# the removals for them.
SLEEPERS, CROWD = 6, 1

# The counters are read when nobody counts any more.
UNDER_LOAD = """
/sleepers @SLEEPERS@ pair 1000000 &
/crowd @CROWD@ pair &
/cycles pair @CYCLES@
echo "program's status $?"
kill -9 -1
sleep 3
cd /sys/module/pair/parameters || exit 91
echo "whole $(cat whole) torn $(cat torn)"
cd /
"""
TOLD = re.compile(r"^(?:\d+ cycles in|cycles|removal:|installation:|whole) .*\n", re.MULTILINE)
COUNTED = re.compile(r"^cycles (\d+) refused (\d+) seconds (\d+)$", re.MULTILINE)
SEEN = re.compile(r"^whole (\d+) torn (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """What a guest told; `whole` and `torn` calls saw all of the unit, or half of it."""

    console: str
    cycles: int
    whole: int
    torn: int


@pytest.fixture
def under_load(guest_program: Callable[[Path], Path]) -> Callable[[Any, int], Outcome]:
    """Makes so many cycles in a guest of a kernel."""

    def run(kernel: Any, cycles: int) -> Outcome:
        script = UNDER_LOAD.replace("@CYCLES@", str(cycles))
        script = script.replace("@SLEEPERS@", str(SLEEPERS)).replace("@CROWD@", str(CROWD))
        files = {name: guest_program(HERE / f"{name}.c") for name in PROGRAMS}
        console = run_checked(kernel, script, files, parallel=False)
        print(f"{kernel.kind}:\n{''.join(TOLD.findall(console))}")
        counted, seen = COUNTED.search(console), SEEN.search(console)
        assert counted, console
        assert seen, console
        return Outcome(console, int(counted[1]), int(seen[1]), int(seen[2]))

    return run


@pytest.mark.parametrize("kind", [MEMORY_CHECKED, RACE_CHECKED])
def test_units_are_removed_and_installed(
    under_load: Callable[[Any, int], Outcome], kind: str
) -> None:
    kernel = build(BuildRequest(kind=kind, target="x86_64", units=UNITS))
    outcome = under_load(kernel, CYCLES)
    assert outcome.cycles == CYCLES, outcome.console
    # Of each installation, if only by one of all processes.
    assert outcome.whole > CYCLES, outcome.console
    assert outcome.torn == 0, outcome.console
    assert complaints_about_us(outcome.console) == [], outcome.console


BEGINS_TO_RUN = (
    "raw_spin_lock_irqsave(&choice->lock, flags);\n\tchoice->running = true;\n"
    "\traw_spin_unlock_irqrestore(&choice->lock, flags);"
)
MISTAKES = [
    # A task that sleeps between the unit's two functions changes to the originals.
    Mistake(
        name="searches no stacks",
        kind=MEMORY_CHECKED,
        file="choice/stack.c",
        right="has = is_in(READ_ONCE_NOCHECK(*word), code);",
        wrong="has = is_in(0, code);",
        units=UNITS,
    ),
    # The functions become the originals while tasks are between them.
    Mistake(
        name="waits for no tasks",
        kind=RACE_CHECKED,
        file="live/units.c",
        right="error = drop_from_tasks(place, keeper);",
        wrong="error = false ? drop_from_tasks(place, keeper) : 0;",
        units=UNITS,
    ),
    # The stack belongs to a task that may begin to run at any time.
    Mistake(
        name="reads stacks without a mark",
        kind=RACE_CHECKED,
        file="choice/stack.c",
        right="READ_ONCE_NOCHECK(*word)",
        wrong="*word",
        units=UNITS,
    ),
    # An interrupt may then want the runqueue's lock, whose holder wants this one.
    Mistake(
        name="leaves interrupts on",
        kind=MEMORY_CHECKED,
        file="choice/choice.c",
        right=BEGINS_TO_RUN,
        wrong="(void)flags;\n\traw_spin_lock(&choice->lock);\n\tchoice->running = true;\n"
        "\traw_spin_unlock(&choice->lock);",
        units=UNITS,
    ),
    # A task begins to run while somebody drops its unit because it does not run.
    Mistake(
        name="begins to run without the lock",
        kind=RACE_CHECKED,
        file="choice/choice.c",
        right=BEGINS_TO_RUN,
        wrong="(void)flags;\n\tchoice->running = true;",
        units=UNITS,
    ),
]


@pytest.mark.parametrize(
    "mistake", MISTAKES, ids=[mistake.name.replace(" ", "-") for mistake in MISTAKES]
)
def test_a_mistake_is_found(
    under_load: Callable[[Any, int], Outcome],
    mistaken_kernel: Callable[[Mistake], Any],
    mistake: Mistake,
) -> None:
    kernel = mistaken_kernel(mistake)
    try:
        outcome = under_load(kernel, CYCLES_FOR_MISTAKES)
    except GuestError as error:
        # It did not outlive the mistake.
        assert boot.complaints(str(error)), str(error)
        return
    complaints = complaints_about_us(outcome.console)
    print(f"{mistake.name}: torn {outcome.torn}", *complaints[:1], sep="\n")
    assert outcome.torn or complaints, outcome.console
