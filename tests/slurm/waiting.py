# SPDX-License-Identifier: GPL-2.0-or-later
"""Waiting for a cluster to be as it should be."""

import time
from collections.abc import Callable
from typing import Any

# Only what hangs takes so long; a machine that is busy with other work may take a minute.
PATIENCE_SECONDS = 1200.0


class ClusterError(Exception):
    """The cluster is not as it should be; the message says how, with the end of a log."""


def until(condition: Callable[[], Any], what: str, seconds: float = PATIENCE_SECONDS) -> Any:
    """Wait for something to be so, and return it."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise ClusterError(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.05)
    return value
