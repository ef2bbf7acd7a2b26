# SPDX-License-Identifier: GPL-2.0-or-later
"""The C library's writing functions that the compiler plugin knows."""

import re

from kadence.phases.describe import library_calls

DIRECT, FLUSHING = map(frozenset, library_calls.families(library_calls.IO).values())
REDIRECTED = DIRECT | FLUSHING
# Loops of these become one call.
BATCHED = frozenset({"write", *library_calls.families(library_calls.BATCHED)[""]})

# How the names of C++'s and Fortran's stream functions begin. The streams call `write` and
# `writev` within a shared library.
OF_STREAMS = ("_Z", "_gfortran_")

SMALLEST_BUFFER = 512  # bytes, of a stream of the C library

# A function has several names in the C library, and a profile may show any of them.
OTHER_NAME = re.compile(r"^(?:_IO_|__GI_|__libc_|__)+|@.*$")


def library_name(symbol: str) -> str:
    """The function's name as programs call it."""
    plain = OTHER_NAME.sub("", symbol)
    return plain if plain in REDIRECTED | BATCHED else symbol.split("@")[0]


def is_of_stream(symbol: str) -> bool:
    """Whether the function belongs to C++'s or Fortran's streams."""
    return symbol.startswith(OF_STREAMS)
