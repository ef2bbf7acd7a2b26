# SPDX-License-Identifier: GPL-2.0-or-later
"""File locks: the second process waits for the first, and says so."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from kadence.base import terminal
from kadence.kconfig.tree import progress


@contextmanager
def exclusive(path: Path, what: str, note: Path | None = None) -> Iterator[None]:
    """Hold the lock file `path`; the kernel drops the lock when its holder dies.

    If the holder keeps a progress note, a waiting process shows it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as holder:
        if not _taken(holder):
            terminal.tell(f"waiting for another process to finish {what}")
            if note is not None:
                progress.follow(what, note, lambda: _taken(holder))
            else:
                fcntl.flock(holder, fcntl.LOCK_EX)
        yield


def _taken(holder: TextIO) -> bool:
    """Try to take the lock; return True if this process holds it now."""
    try:
        fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
