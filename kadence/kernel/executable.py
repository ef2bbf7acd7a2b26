# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds a program's own code in what a guest ran, where it may lie at any address."""

import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from elftools.common.exceptions import ELFError
from elftools.elf.constants import P_FLAGS, SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from kadence.kconfig.layout.artefact import PAGE_BYTES
from kadence.lab.counts import ProgramBlock

TABLES = (".symtab", ".dynsym")  # a stripped program has the second one alone


@dataclass(frozen=True)
class Executable:
    """The code of an ELF file, by the file's own addresses."""

    segments: Mapping[int, bytes]
    functions: Sequence[str]  # lines "ADDRESS NAME"

    @classmethod
    def of(cls, name: str) -> Self | None:
        """The program that a command's first word names; None if it is no ELF file."""
        place = shutil.which(name)
        if place is None:
            return None
        try:
            with Path(place).open("rb") as content:
                file = ELFFile(content)
                return cls(dict(_segments(file)), sorted(_functions(file)))
        except ELFError:
            return None

    def pages(self, blocks: Iterable[ProgramBlock]) -> dict[int, int]:
        """The host's pages with code of this file, and where that code lies in the file.

        A page is this file's if the file has all blocks that begin in the page. A page with few
        blocks may fit several places in the file. Then the right place is the one that is as far
        from the page's address as the places of other pages are from theirs.
        """
        by_page: dict[int, list[ProgramBlock]] = defaultdict(list)
        for block in blocks:
            by_page[block.page].append(block)
        fits = {page: list(self._places(each)) for page, each in by_page.items()}
        starts = {page: _page(each[0].address) for page, each in by_page.items()}
        bases = {starts[page] - places[0] for page, places in fits.items() if len(places) == 1}
        return {
            page: place
            for page, places in fits.items()
            for place in places
            if starts[page] - place in bases
        }

    def _places(self, blocks: Sequence[ProgramBlock]) -> Iterator[int]:
        """Addresses of pages of the file that have all of these blocks."""
        for start, content in self.segments.items():
            for page in range(_page(start), start + len(content), PAGE_BYTES):
                offset = page - start
                if all(
                    _is_at(content, offset + each.address % PAGE_BYTES, each) for each in blocks
                ):
                    yield page


def _page(address: int) -> int:
    return address // PAGE_BYTES * PAGE_BYTES


def _is_at(content: bytes, offset: int, block: ProgramBlock) -> bool:
    return offset >= 0 and content.startswith(block.begin, offset)


def _segments(file: ELFFile) -> Iterator[tuple[int, bytes]]:
    for segment in file.iter_segments("PT_LOAD"):
        if segment["p_flags"] & P_FLAGS.PF_X:
            yield segment["p_vaddr"], segment.data()


def _functions(file: ELFFile) -> Iterator[str]:
    """Functions, and sections of code, of which some (.plt) have no functions."""
    for section in file.iter_sections():
        if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR:
            yield f"{section['sh_addr']:x} {section.name}"
    tables = [file.get_section_by_name(name) for name in TABLES]
    table = next((each for each in tables if isinstance(each, SymbolTableSection)), None)
    for symbol in table.iter_symbols() if table else ():
        if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_shndx"] != "SHN_UNDEF":
            yield f"{symbol['st_value']:x} {symbol.name}"
