# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be read from a kernel image."""

from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from kadence.base.errors import BuildError


def text_bytes(path: Path) -> int:
    """The bytes of code and read-only data, as size(1) counts them under `text`."""
    try:
        with path.open("rb") as content:
            sections = list(ELFFile(content).iter_sections())
    except ELFError as error:
        raise BuildError(f"{path} is not an ELF image ({error})") from error
    flags = [(section["sh_flags"], section["sh_size"]) for section in sections]
    return sum(
        size for flag, size in flags if flag & SH_FLAGS.SHF_ALLOC and not flag & SH_FLAGS.SHF_WRITE
    )
