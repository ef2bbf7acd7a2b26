# SPDX-License-Identifier: GPL-2.0-or-later
"""Text for the user's terminal: how much is told, and none that controls the terminal.

The names of functions, files and programs come from the author of a profile. A terminal obeys
control characters in them, and a direction override disguises a name as another one. So Plain
prints the number of such a character instead, and likewise of a byte that is not a character.
"""

import os
import shlex
import sys
from typing import Any, TextIO

KEPT = "\n\t"
# Unicode's categories Cc, Cf and Cs, and its two line separators.
HIDDEN = (
    *((0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x61C, 0x61C), (0x180E, 0x180E)),
    *((0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0xD800, 0xDFFF), (0xFEFF, 0xFEFF)),
    *((0xFFF9, 0xFFFB), (0xE0001, 0xE007F)),
)
SHOWN = {
    number: f"\\u{number:04x}" if number > 0xFF else f"\\x{number:02x}"
    for first, last in HIDDEN
    for number in range(first, last + 1)
    if chr(number) not in KEPT
}


class Plain:
    """A text stream that shows control characters instead of writing them."""

    def __init__(self, stream: TextIO) -> None:
        self.raw = stream

    def write(self, text: str) -> int:
        """Write like the stream itself; return the number of characters given."""
        self.raw.write(text.translate(SHOWN))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


def raw(stream: Any) -> TextIO:
    """The underlying stream, for output that is meant to move the cursor."""
    found: TextIO = stream.raw if isinstance(stream, Plain) else stream
    return found


class _Said:
    """What the user asked for: `kadence -q` or `kadence -v`."""

    quiet = False


def be_quiet() -> None:
    """From now on tell no progress and no hints."""
    _Said.quiet = True


def tell_commands() -> None:
    """From now on tell each command that this process starts."""
    sys.addaudithook(_tell_command)


def _tell_command(event: str, values: tuple[Any, ...]) -> None:
    if event == "subprocess.Popen":
        _, words, _, _ = values
        text = words if isinstance(words, str) else shlex.join(map(os.fsdecode, words))
        print(f"kadence: running {text}", file=sys.stderr, flush=True)


def shows_progress() -> bool:
    """Whether a line that is rewritten in place reaches somebody."""
    return sys.stderr.isatty() and not _Said.quiet and os.environ.get("TERM") != "dumb"


def tell(line: str) -> None:
    """Print a line about the progress to standard error."""
    if not _Said.quiet:
        print(f"kadence: {line}", file=sys.stderr, flush=True)


def hint(*words: object) -> None:
    """Name the next command to a user at a terminal."""
    if sys.stderr.isatty():
        tell(f"next: {shlex.join(map(str, words))}")
