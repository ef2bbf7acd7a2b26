# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be read from a kernel image."""

from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from kadence.base.errors import BuildError


def functions(path: Path) -> str:
    """Lines "ADDRESS NAME" of the functions of a vmlinux, by address."""
    with path.open("rb") as content:
        table = ELFFile(content).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        found = [
            (symbol["st_value"], symbol.name)
            for symbol in table.iter_symbols()
            if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_shndx"] != "SHN_UNDEF"
        ]
    return "".join(f"{address:x} {name}\n" for address, name in sorted(found))


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
