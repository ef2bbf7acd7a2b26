# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel for programs that only touch memory, with the needs of a plan that treats memory."""

from bench.base import tailored
from kadence.kconfig.store.store import Kernel

NEEDS = {
    "system_calls": [
        *("clock_gettime", "mmap", "munmap", "madvise", "getrusage", "personality", "ioctl"),
        *("openat", "write", "exit_group"),
    ],
    "memory": True,
}


def made_for_it(target: str) -> Kernel:
    """Returns the kernel, and builds it if it is not in the store."""
    return tailored.kernel("memory", NEEDS, target)
