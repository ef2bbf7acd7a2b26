# SPDX-License-Identifier: GPL-2.0-or-later
"""The rate of an emulated guest's time stamp counter, so that its kernel need not measure it.

QEMU's emulation passes this machine's own counter on. A guest's kernel measures the counter against
an emulated timer, which stands still while other processes have the processors. One kernel took
2,600 MHz for 800, so each of its seconds lasted a third of a second.
"""

import subprocess
from functools import cache

from kadence.base import resources
from kadence.base.errors import ToolError

CHECK = "clock"


@cache
def counter_khz() -> int:
    """Counts per millisecond, measured over ten milliseconds (boot/probe/clock.c)."""
    command = [str(resources.built("boot/probe")), "/", "1", CHECK]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    name, error, count, step = (completed.stdout or "- 1 0 it ended").split(" ", 3)
    if (name, int(error)) != (CHECK, 0):
        raise ToolError(f"the speed of this machine's clock can't be measured: {step.strip()}")
    return int(count)
