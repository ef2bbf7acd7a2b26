# SPDX-License-Identifier: GPL-2.0-or-later
"""How far a build is: one line on a terminal, a line in a log at intervals, and a note.

The note is a file that holds the builder's progress, for processes that wait for the same kernel.
"""

import contextlib
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from kadence.base import terminal

# make's line for a file of the kernel; the build's own programs (HOSTCC) do not count.
COMPILED = re.compile(r"\s+(?:CC|AS)\s+(?:\[M\]\s+)?\S+")
WIDTH = 78
SECONDS_BETWEEN_LINES = 10.0  # in a log
SECONDS_BETWEEN_NOTES = 0.5
SECONDS_BETWEEN_LOOKS = 0.2


class Progress:
    """Use as a context; at its end, the line on a terminal is cleared."""

    def __init__(self, title: str, note: Path | None = None) -> None:
        self.title = title
        self.note = note
        self.terminal = terminal.shows_progress()
        self.begun = time.monotonic()
        self.told = self.begun
        self.noted = 0.0
        self.files = 0
        self.total = 0
        self.about = ""

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.terminal:
            terminal.raw(sys.stderr).write("\r\033[K")
            sys.stderr.flush()
        if self.note is not None:
            self.note.unlink(missing_ok=True)

    def expect(self, files: int, exact: bool) -> None:
        """Set the number of files to compile; 0 if it is unknown."""
        self.total = files
        self.about = "" if exact else "about "

    def compiled(self, line: str) -> None:
        """Take one line of make's output."""
        if COMPILED.match(line):
            self.files += 1
            # The last link compiles a few symbol tables that no count includes.
            total = f" of {self.about}{max(self.total, self.files)}" if self.total else ""
            self.say(f"{self.files}{total} files")

    def say(self, what: str) -> None:
        """Report the present step."""
        now = time.monotonic()
        seconds = int(now - self.begun)
        line = f"{self.title}: {what}, {seconds // 60}:{seconds % 60:02}"
        if self.terminal:
            terminal.raw(sys.stderr).write(f"\r\033[K{line[:WIDTH].translate(terminal.SHOWN)}")
            sys.stderr.flush()
        elif now - self.told >= SECONDS_BETWEEN_LINES:
            self.told = now
            terminal.tell(line)
        self._leave_note(what, now)

    def _leave_note(self, what: str, now: float) -> None:
        """Write the note at intervals. If the disk is full, the build itself reports that."""
        if self.note is None or now - self.noted < SECONDS_BETWEEN_NOTES:
            return
        self.noted = now
        with contextlib.suppress(OSError):
            fresh = self.note.with_suffix(".fresh")
            fresh.write_text(what, encoding="utf-8")
            fresh.rename(self.note)


def follow(title: str, note: Path, is_over: Callable[[], bool]) -> None:
    """Report what another process notes, until `is_over` returns True."""
    with Progress(title) as progress:
        while not is_over():
            with contextlib.suppress(OSError):
                progress.say(note.read_text(encoding="utf-8"))
            time.sleep(SECONDS_BETWEEN_LOOKS)
