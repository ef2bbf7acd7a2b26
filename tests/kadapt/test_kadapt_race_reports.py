# SPDX-License-Identifier: GPL-2.0-or-later
"""Which of the reports of a race are about the driver."""

import pytest
from test_kadapt_soak import complaints_about_us

REPORT = """==================================================================
BUG: KCSAN: data-race in a / b

read to 0xffff88800023e820 of 8 bytes by interrupt on cpu 0:
 {above}+0xc9/0x1e0
 sysvec_apic_timer_interrupt+0x62/0x80
 asm_sysvec_apic_timer_interrupt+0x16/0x20
 {below}+0x86/0xd0
 ret_from_fork_asm+0x11/0x20

value changed: 0x000000028cc908c1 -> 0x000000028ccb0b26
==================================================================
"""


@pytest.mark.parametrize(
    ("above", "below", "is_ours"),
    [
        ("kadapt_stack_has", "process_one_work", True),
        ("wq_worker_tick", "kadapt_stack_has", False),
        ("wq_worker_tick", "process_one_work", False),
    ],
)
def test_an_interrupt_is_not_the_work_of_what_it_interrupts(
    above: str, below: str, is_ours: bool
) -> None:
    complaints = complaints_about_us(REPORT.format(above=above, below=below))
    assert bool(complaints) is is_ours
