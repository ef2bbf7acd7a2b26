# SPDX-License-Identifier: GPL-2.0-or-later
"""The C library's functions by which a program writes, as far as the compiler plugin knows them."""

import re

DIRECT = frozenset({"write", "writev"})
FLUSHING = frozenset({"fflush", "fflush_unlocked"})
REDIRECTED = DIRECT | FLUSHING
BATCHED = frozenset({"write", "send"})  # loops of them become one call

# What C++'s and Fortran's streams call their functions. They write by `write` and `writev`, from
# within a shared library.
OF_STREAMS = ("_Z", "_gfortran_")

SMALLEST_BUFFER = 512  # bytes of a stream of the C library's

# A function has several names in the C library, and a profile may show any of them.
OTHER_NAME = re.compile(r"^(?:_IO_|__GI_|__libc_|__)+|@.*$")


def library_name(symbol: str) -> str:
    """The function's name as programs call it."""
    plain = OTHER_NAME.sub("", symbol)
    return plain if plain in REDIRECTED | BATCHED else symbol.split("@")[0]


def is_of_stream(symbol: str) -> bool:
    """Whether it is one of C++'s or Fortran's streams."""
    return symbol.startswith(OF_STREAMS)
