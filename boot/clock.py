# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast an emulated guest's time stamp counter counts, so that its kernel need not find out.

QEMU's emulation hands this machine's own counter on. A guest's kernel measures it beside an
emulated timer, which stands still while others have the processors: 2,600 MHz were taken for 800,
and every second inside was a third of one.
"""

import subprocess
from functools import cache

from kadence import resources
from kadence.errors import ToolError

CHECK = "clock"


@cache
def counter_khz() -> int:
    """Counts in a millisecond, measured in ten of them (boot/probe/clock.c)."""
    command = [str(resources.built("boot/probe")), "/", "1", CHECK]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    name, error, count, step = (completed.stdout or "- 1 0 it ended").split(" ", 3)
    if (name, int(error)) != (CHECK, 0):
        raise ToolError(f"the speed of this machine's clock can't be measured: {step.strip()}")
    return int(count)
