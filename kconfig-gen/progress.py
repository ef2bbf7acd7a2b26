# SPDX-License-Identifier: GPL-2.0-or-later
"""One line on a terminal that says how far a build is; nothing where nobody looks."""

import re
import sys
import time
from types import TracebackType

COMPILED = re.compile(r"\s+(?:CC|AS|LD|AR|HOSTCC|LINK)\s+(?:\[M\]\s+)?(\S+)")
WIDTH = 78


class Progress:
    """Use as a context; the line is gone at the end."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.visible = sys.stderr.isatty()
        self.begun = time.monotonic()
        self.files = 0

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.visible:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def say(self, what: str) -> None:
        """Replace the line."""
        if self.visible:
            seconds = int(time.monotonic() - self.begun)
            line = f"{self.title}: {seconds // 60}:{seconds % 60:02} {what}"
            sys.stderr.write(f"\r\033[K{line[:WIDTH]}")
            sys.stderr.flush()

    def compiled(self, line: str) -> None:
        """Take one line of make's output."""
        match = COMPILED.match(line)
        if match:
            self.files += 1
            self.say(f"{self.files} files, {match[1]}")
