# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions of a User-Mode Linux kernel are instrumented and let go under load, in full.

The kernel has points, KASAN and lockdep. Its driver calls at points that the build planted; the
tracer's part is soaked on x86_64 (test_kadapt_probe_soak.py), where a cycle takes 20 times as long.
"""

import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_kadapt_probe_soak import (
    COUNT,
    CYCLES,
    CYCLES_FOR_MISTAKES,
    FUNCTIONS,
    HERE,
    LONGEST_SECONDS,
    TOLD,
)
from test_kadapt_probe_soak import MISTAKES as X86_MISTAKES
from test_kadapt_soak import Mistake

from kadence import boot
from kadence.base.errors import GuestError
from kadence.kconfig.request.request import MINIMAL, BuildRequest
from kadence.kconfig.store.build import build

pytestmark = [pytest.mark.soak, pytest.mark.kernel, pytest.mark.timeout(0)]

CHECKERS = ("KASAN", "KASAN_GENERIC", "KASAN_OUTLINE", "DEBUG_KERNEL", "PROVE_LOCKING")
OVERRIDES = tuple((name, "y") for name in CHECKERS)
# Functions that this kernel has not, or may not time.
COUNTED_ONLY = {"do_futex"}
ABSENT = {"hrtimer_interrupt"}
MEMORY_BYTES = 1 << 30
LOAD = """
@CROWD@ 2 none &
(while :; do dd if=/dev/zero of=/dev/shm/file bs=512 count=100 2>/dev/null; done) &
(while :; do cat /proc/self/maps >/dev/null; done) &
@ATTACH@ @FUNCTIONS@ @CYCLES@
echo "program's status $?"
cat /proc/lockdep_stats
kill -9 -1
"""
# lockdep turns itself off after a complaint, or if its tables are full. The planted mistakes show
# that KASAN works.
LOCKDEP_IS_ON = re.compile(r"^ debug_locks: +1$", re.MULTILINE)

UnderLoad = Callable[[Any, int], tuple[boot.Result, str]]


def lines_of(points: Path) -> str:
    """What attach.c reads: the functions that are soaked, as the kernel lists them."""
    chosen = {name: COUNT if name in COUNTED_ONLY else kind for name, kind in FUNCTIONS.items()}
    rows = [row.split() for row in points.read_text(encoding="ascii").splitlines()]
    places = {name: address for address, _, name in reversed(rows)}
    assert set(chosen) - set(places) == ABSENT
    return "".join(f"{places[name]} {chosen[name]}\n" for name in chosen if name in places)


@pytest.fixture
def under_load(guest_program: Callable[[Path], Path], tmp_path: Path) -> UnderLoad:
    """Make so many cycles in a guest. Returns the result and the output."""
    programs = {"ATTACH": HERE / "probe/attach.c", "CROWD": HERE / "live/crowd.c"}
    functions = tmp_path / "functions"

    def run(kernel: Any, cycles: int) -> tuple[boot.Result, str]:
        functions.write_text(lines_of(kernel.points))
        values = {name: guest_program(path) for name, path in programs.items()}
        script = LOAD
        for name, value in (values | {"FUNCTIONS": functions, "CYCLES": cycles}).items():
            script = script.replace(f"@{name}@", str(value))
        with tempfile.TemporaryFile() as output:
            request = boot.Request(
                image=kernel.image,
                argv=["sh", "-c", script],
                stdout=output.fileno(),
                stderr=output.fileno(),
                memory_bytes=MEMORY_BYTES,
                timeout_seconds=LONGEST_SECONDS,
                hang_timeout_seconds=600.0,
            )
            result = boot.run(request)
            output.seek(0)
            return result, output.read().decode()

    return run


def test_functions_are_instrumented_and_let_go(under_load: UnderLoad) -> None:
    kernel = build(BuildRequest(kind=MINIMAL, points=True, overrides=OVERRIDES))
    result, output = under_load(kernel, CYCLES)
    told = TOLD.search(output)
    assert told, output
    print(f"User-Mode Linux, {result.wall_seconds:.0f} s of the guest's clock; {told[0]}")
    print("observed tasks that slept in a function, in the log:", result.log.count("is still in a"))
    assert int(told[1]) == CYCLES
    assert int(told[4]) > CYCLES, "no task was observed"
    assert int(told[5]) > CYCLES, "no call was recorded"
    assert "program's status 0" in output, output
    assert LOCKDEP_IS_ON.search(output), output
    assert boot.complaints(result.log) == [], result.log


# The memory behind the addresses is another's. KASAN then refuses the whole copy.
LONG = Mistake(
    name="copies one address more",
    kind=MINIMAL,
    file="probe/planted.c",
    right="kvmemdup(addresses, count * sizeof(*addresses),",
    wrong="kvmemdup(addresses, (count + 1) * sizeof(*addresses),",
)
CHECKERS_SAY = "KASAN|possible circular locking"
SHARED = ("copies under the lock",)
MISTAKES = [
    replace(mistake, kind=MINIMAL, target="um", points=True, overrides=OVERRIDES)
    for mistake in [LONG, *(each for each in X86_MISTAKES if each.name in SHARED)]
]


@pytest.mark.parametrize(
    "mistake", MISTAKES, ids=[mistake.name.replace(" ", "-") for mistake in MISTAKES]
)
def test_a_mistake_is_found(
    under_load: UnderLoad, mistaken_kernel: Callable[[Mistake], Any], mistake: Mistake
) -> None:
    kernel = mistaken_kernel(mistake)
    try:
        log = under_load(kernel, CYCLES_FOR_MISTAKES)[0].log
    except GuestError as error:
        # The guest did not outlive the mistake.
        log = Path(str(error).rpartition(" its log is ")[2]).read_text(errors="replace")
    complaints = boot.complaints(log)
    print(f"{mistake.name}:", *complaints[:1], sep="\n")
    assert any(re.search(CHECKERS_SAY, line) for line in complaints), log
