# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the log of QEMU's `-d in_asm`: every block, when QEMU translates it, by instructions.

    IN: vfs_write
    0xffffffff812b3a40:  41 57                    pushq    %r15

A boot logs some hundred megabytes, so this module keeps only the addresses.
"""

from pathlib import Path

from kadence.base.errors import ArtefactError

# The kernel's text on x86_64 without KASLR (Documentation/arch/x86/x86_64/mm.rst).
TEXT_PREFIX = b"0xffffffff8"
ADDRESS_LENGTH = 18


def addresses(log: Path) -> set[int]:
    """Distinct addresses of kernel instructions in a log."""
    found = set()
    try:
        with log.open("rb") as lines:
            for line in lines:
                if line.startswith(TEXT_PREFIX):
                    found.add(line[:ADDRESS_LENGTH])
    except OSError as error:
        raise ArtefactError(f"{log}, which QEMU should have written: {error.strerror}") from error
    return {int(address, 16) for address in found}
