# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel for the programs that only touch memory: what a plan with memory asks for."""

import tailored

from kadence.kconfig.store import Kernel

NEEDS = {
    "system_calls": [
        *("clock_gettime", "mmap", "munmap", "madvise", "getrusage", "personality", "ioctl"),
        *("openat", "write", "exit_group"),
    ],
    "memory": True,
}


def made_for_it(target: str) -> Kernel:
    """Built if it is not in the store."""
    return tailored.kernel("memory", NEEDS, target)
