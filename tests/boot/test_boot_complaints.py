# SPDX-License-Identifier: GPL-2.0-or-later
"""Which lines of a kernel's log are complaints, and which only resemble one."""

import pytest

from kadence import boot


@pytest.mark.parametrize(
    "line",
    [
        "Kernel panic - not syncing: Kernel mode fault at addr 0x40e, ip 0x60022830",
        "BUG: KASAN: vmalloc-out-of-bounds in memcpy_orig+0x54/0x110",
        "BUG: KCSAN: data-race in kadapt_ring_drain / kadapt_ring_close",
        "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
        "WARNING: possible circular locking dependency detected",
        "INFO: task kadapt-faults:792 blocked for more than 60 seconds.",
    ],
)
def test_complaints_are_found(line: str) -> None:
    assert boot.complaints(f"all is well\n{line}\nstill") == [line]


@pytest.mark.parametrize(
    "line",
    [
        "kmemleak: Kernel memory leak detector initialized (mem pool available: 14992)",
        "kcsan: enabled early",
        "debug: unmapping init memory",
    ],
)
def test_what_a_checker_says_of_itself_is_none(line: str) -> None:
    assert boot.complaints(line) == []
