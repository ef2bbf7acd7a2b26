# SPDX-License-Identifier: GPL-2.0-or-later
"""How many processors a guest gets: what its kernel can use, and what this machine has."""

import os
import re

from kadence.base.errors import UsageError
from kadence.boot import configuration
from kadence.boot.request import Request

# By target, for an image without a configuration beside it: its log tells the number afterwards.
UNKNOWN = {"um": 1, "x86_64": 64}
# QEMU's machine has sockets for no more, whatever number a kernel supports.
MOST = 255
IN_LAB = (
    "the lab has one processor: with more, the order of events would depend on this machine; "
    "leave --cpus out, or use `kadence run --target x86_64`"
)
_BROUGHT_UP = re.compile(r"smp: Brought up \d+ nodes?, (\d+) CPU")
# Processors that init brings online; x86_64.py says when it does.
_RAISED = re.compile(r"smpboot: Booting Node \d+ Processor \d+")


def usable() -> int:
    """The number of this machine's processors that the caller may run on."""
    return len(os.sched_getaffinity(0))


def most(request: Request) -> int:
    """The number that the request's kernel can use, from the configuration beside its image."""
    settings = configuration.beside(request.image)
    if settings is None:
        return UNKNOWN.get(request.target, 1)
    return min(int(settings.get("NR_CPUS", "1")), MOST) if settings.get("SMP") == "y" else 1


def granted(request: Request, tasks: int) -> int:
    """One processor for each task, but no more than kernel and machine have."""
    wanted = min(tasks, usable())
    return min(wanted, most(request)) if wanted > 1 else 1


def check(request: Request) -> None:
    """Refuse a number that the guest can't have."""
    count = request.processors
    if count < 1:
        raise UsageError(f"a guest can't have {count} processors; give --cpus a number from 1")
    if count == 1:
        return
    if request.lab:
        raise UsageError(IN_LAB)
    if request.trace is not None:
        raise UsageError("programs are traced on one processor; ask for no more")
    limit = most(request)
    if count > limit:
        raise UsageError(_too_many(request, limit))


def _too_many(request: Request, limit: int) -> str:
    """The number that the kernel can use, and how to get more."""
    asked = f"{request.image} can't use {request.processors} processors"
    if limit > 1:
        return (
            f"{asked}, but {limit} at most; ask for that many, or name a kernel with more "
            "(--set NR_CPUS=N)"
        )
    if request.target == "um":
        return (
            f"{asked}: User-Mode Linux of its series has one; leave --cpus out, or use "
            "--target x86_64"
        )
    return (
        f"{asked}: it is built for one; tailor one to a plan with threads, build it with "
        "--set SMP=y, or use --kernel generic"
    )


def brought_up(log: str) -> int:
    """The number of processors in use, from the log of the guest's kernel."""
    found = _BROUGHT_UP.search(log)
    return (int(found[1]) if found else 1) + len(_RAISED.findall(log))
