# SPDX-License-Identifier: GPL-2.0-or-later
"""What is printed is read, and commands nobody.

Names of functions, files and programs come from whoever made the profile. A terminal obeys control
characters in them, and a direction override shows a name as another one. So each is shown by its
number instead, and so is a byte that is no character.
"""

from typing import Any, TextIO

KEPT = "\n\t"
# Unicode's categories Cc, Cf and Cs, and its two separators of lines.
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
        """As the stream's own; counts the characters that were given."""
        self.raw.write(text.translate(SHOWN))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


def raw(stream: Any) -> TextIO:
    """The stream below, for what is meant to move a cursor."""
    found: TextIO = stream.raw if isinstance(stream, Plain) else stream
    return found
