# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the command that starts User-Mode Linux, with relay and init connected.

relay/kernel.c sets the kernel's descriptors: 1 is the log, 3 the doorbell, 4 the shared memory.
"""

import os
from pathlib import Path

from kadence.base.errors import GuestError, UsageError
from kadence.boot import configuration
from kadence.boot.memory import MIB, Memory
from kadence.boot.request import Request

ACCELERATOR = "native"
# Of processes, in a guest's kernel: RESERVED_PIDS and PID_MAX_DEFAULT of Linux.
RESERVED_NUMBERS, MOST_NUMBERS = 300, 32768
# By the golden section, k callers with numbers in a row are at least 4000 / k apart (Knuth,
# The Art of Computer Programming 3, 1973, section 6.4, on multiplicative hashing).
STRIDE = 20065


def command(request: Request, memory: Memory, init: Path) -> list[str]:
    """The words that start this kernel."""
    if not os.access(request.image, os.X_OK):
        raise GuestError(
            f"{request.image} is not executable, so it is no User-Mode Linux kernel",
            command_started=False,
        )
    if '"' in str(init):
        raise UsageError(f"the path {init} has a quote, which no kernel command line can carry")
    return [
        str(request.image.absolute()),
        f"mem={memory.size_bytes // MIB}M",
        *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw"),
        f'init="{init}"',
        *("con=null", "con0=fd:1", "ssl=null", "ssl0=fd:3", "console=tty0"),
        "iomem=mmapper,/proc/self/fd/4",
        # UML makes a directory for its management console, which nobody uses here and which a
        # killed kernel would leave behind. If UML cannot make it, UML does without.
        "uml_dir=/proc/self/ns/",
        # Measuring the delay loop's speed takes most of a boot, and nothing here uses the loop.
        "lpj=50000000",
        f"first_process={_first_process()}",
        *_processors(request),
        *request.kernel_arguments,
    ]


def _first_process() -> int:
    """The number from which the guest counts its processes; of guests at one time each has another.

    Programs name files by their process number, and a guest's files are the machine's. Other
    kernels than ours make the word a variable of init's, which no command inherits.
    """
    numbers = MOST_NUMBERS - RESERVED_NUMBERS
    return RESERVED_NUMBERS + os.getpid() * STRIDE % numbers


def _processors(request: Request) -> tuple[str, ...]:
    """Words for a kernel with several processors; one without SMP would pass them on to init.

    By ptrace the kernel serves one processor only. By seccomp each process reports its system calls
    itself, through memory.
    """
    if request.processors == 1:
        return ()
    settings = configuration.beside(request.image) or {}
    known = settings.get("SMP") == "y"
    return (f"ncpus={request.processors}", "seccomp=on") if known else ()
