# SPDX-License-Identifier: GPL-2.0-or-later
"""Waiting until a cluster is in the expected state."""

import time
from collections.abc import Callable
from typing import Any

# Only a hang takes this long; a machine that is busy with other work may take a minute.
PATIENCE_SECONDS = 1200.0


class ClusterError(Exception):
    """The cluster is not in the expected state; the message says why, with the end of a log."""


def until(condition: Callable[[], Any], what: str, seconds: float = PATIENCE_SECONDS) -> Any:
    """Wait until a condition holds, and return its value."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise ClusterError(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.05)
    return value
