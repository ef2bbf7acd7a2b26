# SPDX-License-Identifier: GPL-2.0-or-later
"""The C library's functions that write or read, as the compiler plugin can redirect them.

A program that is compiled again may reach another function of the same family than the profile
saw (an fprintf that became an fwrite), so a site is planned for a family.
"""

import re

DESCRIPTOR_CALLS = ("pwrite", "pwrite64", "send", "sendto", "write", "writev")
STREAM_CALLS = (
    "__fprintf_chk",
    "__printf_chk",
    "__vfprintf_chk",
    "__vprintf_chk",
    "fflush",
    "fflush_unlocked",
    "fprintf",
    "fputc",
    "fputc_unlocked",
    "fputs",
    "fputs_unlocked",
    "fwrite",
    "fwrite_unlocked",
    "printf",
    "putc",
    "putc_unlocked",
    "putchar",
    "putchar_unlocked",
    "puts",
    "vfprintf",
    "vprintf",
)
READ_CALLS = ("__read_chk", "read")
FAMILIES = (
    *((name,) for name in ("send", "sendto", "write", "writev")),
    ("pwrite", "pwrite64"),
    STREAM_CALLS,
    READ_CALLS,
)
WRITING = frozenset(DESCRIPTOR_CALLS + STREAM_CALLS)
READING = frozenset(["read"])  # into which __read_chk goes on: it would be counted twice
ALL = WRITING | frozenset(READ_CALLS)

# A function has several names in the C library, and a profile may show any of them.
OTHER_NAME = re.compile(r"^(?:_IO_|__GI_|__libc_|__)+|@.*$")


def library_name(symbol: str) -> str | None:
    """The function's name as programs call it; None for one that neither writes nor reads."""
    if symbol in ALL:
        return symbol
    plain = OTHER_NAME.sub("", symbol)
    return plain if plain in ALL else None


def with_families(names: set[str]) -> list[str]:
    """These functions and those that may stand for them in another compilation."""
    return sorted(name for family in FAMILIES if names.intersection(family) for name in family)
