# SPDX-License-Identifier: GPL-2.0-or-later
"""How much of the processors' time other work took during a measurement."""

import os
import resource
import time
from pathlib import Path

# Fields of /proc/stat's first line that count busy time (proc(5)): user, nice, system, irq, softirq
# and steal. Idle and iowait are not busy time, and user already includes guest.
BUSY_FIELDS = (1, 2, 3, 6, 7, 8)
# A smaller share does not matter; the machine's own housekeeping takes some.
NOTICEABLE_SHARE = 0.1
# With a larger share a comparison measures the other work more than the program.
DECISIVE_SHARE = 0.25


class Neighbours:
    """Counts the time of other work from its creation on."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._others = _busy_seconds() - _own_seconds()

    def share(self) -> float:
        """The share of other work, which includes own children not yet waited for."""
        available = (time.monotonic() - self._began) * (os.cpu_count() or 1)
        taken = _busy_seconds() - _own_seconds() - self._others
        return min(1.0, max(0.0, taken / available)) if available > 0 else 0.0


def _busy_seconds() -> float:
    fields = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()
    return sum(int(fields[index]) for index in BUSY_FIELDS) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def note(share: float) -> str | None:
    """A sentence for the report if other work took too much."""
    if share < NOTICEABLE_SHARE:
        return None
    return (
        f"Other work took {share:.0%} of the processors' time while this was measured, which "
        "widens the intervals: measure again on a quiet machine."
    )
