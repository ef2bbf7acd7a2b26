# SPDX-License-Identifier: GPL-2.0-or-later
"""The allocating functions that the compiler plugin can redirect.

A program that is compiled again may call another function of the family than the profile saw (a
malloc and a memset may become a calloc). So a site is planned for a whole family.
"""

import re

from kadence.phases.describe import library_calls

BLOCKS, CHANGED_BLOCKS, ALIGNED_BLOCKS, OBJECTS, MAPPINGS = library_calls.families(
    library_calls.MEMORY
).values()

OF_ALLOCATORS = (BLOCKS, CHANGED_BLOCKS, ALIGNED_BLOCKS, OBJECTS)
FAMILIES = (*OF_ALLOCATORS, MAPPINGS)

# A function has several names in the C library, and a profile may show any of them.
OTHER_NAME = re.compile(r"^(?:__GI_|__libc_|__)+|@.*$")


def family(symbol: str) -> tuple[str, ...]:
    """The functions of this one's family; empty if it cannot be redirected."""
    plain = OTHER_NAME.sub("", symbol)
    return next((names for names in FAMILIES if plain in names), ())


def allocates(symbol: str) -> bool:
    """Whether it allocates blocks, which the C library keeps and gives back in its own way."""
    return family(symbol) in OF_ALLOCATORS


def maps(symbol: str) -> bool:
    """Whether it maps memory that the program itself gives back to the kernel."""
    return family(symbol) == MAPPINGS
