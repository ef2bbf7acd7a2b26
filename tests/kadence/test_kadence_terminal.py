# SPDX-License-Identifier: GPL-2.0-or-later
"""How names that others chose are printed."""

import io
import unicodedata

import pytest

from kadence import cli
from kadence.base import terminal
from kadence.base.terminal import Plain


def shown(text: str) -> str:
    """What a stream gets when a text is written."""
    stream = io.StringIO()
    assert Plain(stream).write(text) == len(text)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mean\n\tvalue", "mean\n\tvalue"),
        ("größe_中文", "größe_中文"),
        ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
        ("a\rb", "a\\x0db"),
        ("\x9b31m", "\\x9b31m"),
        ("ab\u202egnp.exe", "ab\\u202egnp.exe"),
        ("bad\udcff", "bad\\udcff"),
    ],
)
def test_control_characters_are_shown(text: str, expected: str) -> None:
    """Letters of any script stay; characters that a terminal obeys or cannot encode are escaped."""
    assert shown(text) == expected


def test_nothing_of_unicodes_control_categories_gets_through() -> None:
    """Checks Unicode's own table. Left out are visible signs, mostly ahead of Arabic numbers."""
    printed = {0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2}
    for number in range(0x110000):
        if unicodedata.category(chr(number)) not in ("Cc", "Cf", "Cs"):
            continue
        # Signs of Egyptian, Kaithi, shorthand and music format only their own script.
        if number in printed or 0x11000 <= number < 0x1D200 or chr(number) in terminal.KEPT:
            continue
        assert number in terminal.SHOWN, hex(number)


def test_an_error_names_a_file_without_obeying_it(capfd: pytest.CaptureFixture[str]) -> None:
    """The message shows the name's control characters as escapes."""
    assert cli.main(["profile", "show", "no\x1b[31m.kprof"]) == 1
    said = capfd.readouterr().err
    assert "\x1b" not in said
    assert "no\\x1b[31m.kprof" in said
