# SPDX-License-Identifier: GPL-2.0-or-later
"""One at a time: whoever comes second waits, and says so."""

import fcntl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file `path`; the kernel drops the lock when its holder dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as holder:
        try:
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"kadence: waiting for another process to finish {what}", file=sys.stderr)
            fcntl.flock(holder, fcntl.LOCK_EX)
        yield
