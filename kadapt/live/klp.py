# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets a module use symbols that the kernel does not export.

The kernel's live patching resolves such symbols when it loads a module
(Documentation/livepatch/module-elf-format.rst): a symbol named `.klp.sym.vmlinux.NAME,POSITION`
with a section number of its own, and its relocations in sections `.klp.rela.vmlinux.SECTION`.
The kernel's build makes neither, so this module rewrites the object file.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QQq")
HEADER_SECTIONS = 40  # offset of e_shoff
HEADER_COUNTS = 60  # offset of e_shnum and e_shstrndx

SYMBOLS, RELOCATIONS = 2, 4
ALLOCATED = 0x2
FOR_LIVEPATCH = 0x100000  # SHF_RELA_LIVEPATCH
BY_LIVEPATCH = 0xFF20  # SHN_LIVEPATCH
ALIGNMENT = 8


@dataclass(frozen=True)
class Place:
    """Where a symbol is: a symbol of the kernel, and bytes behind it."""

    symbol: str
    position: int  # among the kernel's symbols of this name; 0: the only one
    offset: int = 0


@dataclass(frozen=True)
class Section:
    """A section's header, and its contents if they are not in the file yet."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int
    contents: bytes | None = None

    def packed(self) -> bytes:
        """The header as it is in the file."""
        return SECTION.pack(
            self.name,
            self.kind,
            self.flags,
            self.address,
            self.offset,
            self.size,
            self.link,
            self.info,
            self.alignment,
            self.entry,
        )

    def read(self, content: bytes) -> bytes:
        """What the section holds."""
        if self.contents is not None:
            return self.contents
        return content[self.offset : self.offset + self.size]


class Module:
    """An object file of 64 bits whose sections can be replaced and added."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        *_, offset, _flags, _size, _program, _programs, _entry, count, names = HEADER.unpack_from(
            content
        )
        headers = content[offset : offset + count * SECTION.size]
        self.sections = [Section(*fields) for fields in SECTION.iter_unpack(headers)]
        self._names = names
        self._symbols = next(i for i, each in enumerate(self.sections) if each.kind == SYMBOLS)

    def undefined(self) -> dict[int, str]:
        """The names of symbols that the module uses and does not have, by number."""
        strings = self.sections[self.sections[self._symbols].link].read(self.content)
        return {
            number: _string(strings, name)
            for number, (name, _info, _other, section, _value, _size) in enumerate(self._entries())
            if number and section == 0
        }

    def resolve(self, places: Mapping[str, Place]) -> bytes:
        """The module, in which these undefined symbols are the kernel's."""
        undefined = self.undefined().items()
        numbers = {number: places[name] for number, name in undefined if name in places}
        self._rename(numbers)
        for number, section in enumerate(list(self.sections)):
            if section.kind == RELOCATIONS:
                self._split(number, numbers)
        return self._packed()

    def _entries(self) -> Iterator[tuple[int, int, int, int, int, int]]:
        yield from SYMBOL.iter_unpack(self.sections[self._symbols].read(self.content))

    def _add_string(self, table: int, text: str) -> int:
        strings = self.sections[table].read(self.content)
        self._put(table, strings + text.encode() + b"\0")
        return len(strings)

    def _put(self, number: int, contents: bytes) -> None:
        section = self.sections[number]
        self.sections[number] = replace(section, contents=contents, size=len(contents))

    def _rename(self, numbers: Mapping[int, Place]) -> None:
        strings = self.sections[self._symbols].link
        entries = list(self._entries())
        for number, place in numbers.items():
            name = self._add_string(strings, f".klp.sym.vmlinux.{place.symbol},{place.position}")
            _old, info, other, _section, value, size = entries[number]
            entries[number] = (name, info, other, BY_LIVEPATCH, value, size)
        self._put(self._symbols, b"".join(SYMBOL.pack(*entry) for entry in entries))

    def _split(self, number: int, numbers: Mapping[int, Place]) -> None:
        """Move relocations by these symbols into a section of their own."""
        section = self.sections[number]
        kept, moved = [], []
        for at, what, addend in RELOCATION.iter_unpack(section.read(self.content)):
            place = numbers.get(what >> 32)
            if place is None:
                kept.append(RELOCATION.pack(at, what, addend))
            else:
                moved.append(RELOCATION.pack(at, what, addend + place.offset))
        if not moved:
            return
        self._put(number, b"".join(kept))
        names = self.sections[self._names].read(self.content)
        target = _string(names, self.sections[section.info].name)
        contents = b"".join(moved)
        name = self._add_string(self._names, f".klp.rela.vmlinux.{target}")
        flags = ALLOCATED | FOR_LIVEPATCH
        self.sections.append(
            replace(section, name=name, flags=flags, contents=contents, size=len(contents))
        )

    def _packed(self) -> bytes:
        content = bytearray(self.content)
        placed = []
        for section in self.sections:
            if section.contents is not None:
                content += bytes(-len(content) % ALIGNMENT)
                section = replace(section, offset=len(content))
                content += section.contents or b""
            placed.append(section)
        content += bytes(-len(content) % ALIGNMENT)
        struct.pack_into("<Q", content, HEADER_SECTIONS, len(content))
        struct.pack_into("<HH", content, HEADER_COUNTS, len(placed), self._names)
        return bytes(content) + b"".join(section.packed() for section in placed)


def _string(strings: bytes, at: int) -> str:
    return strings[at : strings.index(b"\0", at)].decode()
