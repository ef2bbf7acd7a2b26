# SPDX-License-Identifier: GPL-2.0-or-later
"""How much of the processors' time went to others while something was measured."""

import os
import resource
import time
from pathlib import Path

# Fields of /proc/stat's first line that are time spent (proc(5)): user, nice, system, irq,
# softirq and steal; idle and iowait are not, and guest is in user already.
BUSY_FIELDS = (1, 2, 3, 6, 7, 8)
# Below this share nobody would notice; the machine's own housekeeping takes some.
NOTICEABLE_SHARE = 0.1
# Above this one a comparison says more about who else was there than about what is compared.
DECISIVE_SHARE = 0.25


class Neighbours:
    """Counts from its making on."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._others = _busy_seconds() - _own_seconds()

    def share(self) -> float:
        """Of all processors' time, what others had; processes not yet waited for are others."""
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
    """A sentence for the report where others took too much."""
    if share < NOTICEABLE_SHARE:
        return None
    return (
        f"Other work took {share:.0%} of the processors' time while this was measured, which "
        "makes the intervals wide: measure again on a quiet machine."
    )
