# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps printed text from controlling the user's terminal.

The names of functions, files and programs come from the author of a profile. A terminal obeys
control characters in them, and a direction override disguises a name as another one. So Plain
prints the number of such a character instead, and likewise of a byte that is not a character.
"""

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
