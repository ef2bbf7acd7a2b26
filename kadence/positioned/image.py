# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine code in a kernel's image, and the tables by which the kernel changes that code.

The layouts are those of Linux 6.12 for x86_64. The image lists the places of addresses behind its
ELF file (arch/x86/tools/relocs.c), and has no symbols; those come from /proc/kallsyms.
"""

import bisect
import io
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

import zstandard
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from kadence.base.errors import KadenceError

ZSTD = bytes.fromhex("28b52ffd")
UPPER_HALF = 0xFFFF_FFFF_0000_0000  # of the addresses in the lists of places
EXCEPTION = struct.Struct("<iii")  # struct exception_table_entry
ALTERNATIVE = struct.Struct("<iiIBB")  # struct alt_instr
JUMP_LABEL = struct.Struct("<iiq")  # struct jump_entry
STATIC_CALL = struct.Struct("<ii")  # struct static_call_site
RELATIVE = struct.Struct("<i")
UNWINDING_BYTES = 6  # of struct orc_entry
# Code that runs on other stacks than a task's, or where nothing may be patched.
BESIDES_TASKS = ("noinstr", "entry", "irqentry", "softirqentry")
# Only a kernel with CONFIG_FUNCTION_ERROR_INJECTION has it.
INJECTION = "__start_error_injection_whitelist"


class Alternative(NamedTuple):
    """Instructions that replace those of a site, if the processor has a feature."""

    address: int
    feature: int
    bytes: int  # of the site
    own_bytes: int


class Label(NamedTuple):
    """A jump that the kernel switches: where to, and the key's address with the entry's flags."""

    target: int
    key: int


@dataclass(frozen=True)
class Places:
    """Places of addresses, by what is there."""

    absolute: frozenset[int]  # of 32 bits
    wide: frozenset[int]  # of 64 bits


class Kallsyms:
    """The kernel's symbols, from the lines of /proc/kallsyms."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._addresses: dict[str, int] = {}
        self.functions: dict[int, str] = {}
        for line in lines:
            address, kind, name, *module = line.split()
            if not module:
                self._addresses.setdefault(name, int(address, 16))
                if kind in "tTwW":
                    self.functions.setdefault(int(address, 16), name)
        if INJECTION in self._addresses:
            raise KadenceError(
                "the kernel lets tools change what its functions return "
                "(CONFIG_FUNCTION_ERROR_INJECTION), which copies would escape; Debian's kernels of "
                "series 6.12 do not, so take one of them"
            )
        self.begin, self.end = self["_stext"], self["_etext"]
        self._starts = sorted(at for at in self.functions if self.begin <= at < self.end)

    def __getitem__(self, name: str) -> int:
        if name not in self._addresses:
            raise KadenceError(f"the kernel has no symbol {name}, so its code can't be copied")
        return self._addresses[name]

    def function_at(self, address: int) -> int:
        """The begin of the function that has this address; 0 outside of the kernel's text."""
        number = bisect.bisect_right(self._starts, address) - 1
        return self._starts[number] if number >= 0 and address < self.end else 0

    def end_of(self, function: int) -> int:
        """Where the next function begins."""
        number = bisect.bisect_right(self._starts, function)
        return self._starts[number] if number < len(self._starts) else self.end

    def besides_tasks(self, address: int) -> bool:
        """Whether this is code of the kernel's entry, or may not be patched."""
        return any(
            self[f"__{name}_text_start"] <= address < self[f"__{name}_text_end"]
            for name in BESIDES_TASKS
        )


class Image:
    """A kernel's image as it was linked."""

    def __init__(self, content: bytes, symbols: Kallsyms) -> None:
        self._content = content
        self._sections = _sections(content)
        self.symbols = symbols
        self.places = _places(content)
        self.returns = self._relative(".return_sites")
        self.thunks = self._relative(".retpoline_sites")
        self.locks = self._relative(".smp_locks")
        self.constants = frozenset(self._constants())
        self.exceptions = dict(self._exceptions())
        self.alternatives = self._alternatives()
        self.labels = dict(self._labels())
        self.static_calls = dict(self._static_calls())
        self.notes = self._section(".notes")[1]
        begin, lines = self._section(".orc_unwind_ip")
        _, self._unwinding = self._section(".orc_unwind")
        self._unwinding_starts = [
            begin + 4 * number + way for number, (way,) in enumerate(RELATIVE.iter_unpack(lines))
        ]

    @classmethod
    def of(cls, image: Path, kallsyms: Iterable[str]) -> Self:
        """The image in this file, as Debian's packages have it."""
        return cls(_unpacked(image), Kallsyms(kallsyms))

    def read(self, address: int, size: int) -> bytes:
        """The bytes at an address."""
        for begin, end, offset in self._sections.values():
            if begin <= address and address + size <= end:
                offset += address - begin
                return self._content[offset : offset + size]
        raise KadenceError(f"the kernel's image has nothing at {address:x}")

    def value(self, address: int, size: int) -> int:
        """The address that is kept in 4 or 8 bytes."""
        signed = int.from_bytes(self.read(address, size), "little", signed=True)
        return signed % (1 << 64)

    def unwinding(self, address: int) -> bytes:
        """The unwinder's entry (ORC) for an instruction."""
        number = bisect.bisect_right(self._unwinding_starts, address) - 1
        begin = UNWINDING_BYTES * number
        return self._unwinding[begin : begin + UNWINDING_BYTES]

    def _section(self, name: str) -> tuple[int, bytes]:
        """Address and content of a section."""
        if name not in self._sections:
            raise KadenceError(
                f"the kernel's image has no section {name}, which Debian's kernels of series "
                "6.12 have; its code can't be copied"
            )
        begin, end, offset = self._sections[name]
        return begin, self._content[offset : offset + end - begin]

    def _relative(self, name: str) -> frozenset[int]:
        """A list of places, each relative to its own item."""
        begin, items = self._section(name)
        return frozenset(_around(begin, items))

    def _constants(self) -> Iterator[int]:
        """Constants in instructions that the kernel sets when it starts (runtime-const.h)."""
        for name, (begin, end, offset) in self._sections.items():
            if name.startswith("runtime_"):
                yield from _around(begin, self._content[offset : offset + end - begin])

    def _exceptions(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """Instruction -> where a fault goes on, and how."""
        begin, items = self._section("__ex_table")
        for at, (place, fixup, kind) in _items(EXCEPTION, begin, items):
            yield at + place, (at + 4 + fixup, kind)

    def _alternatives(self) -> dict[int, list[Alternative]]:
        """Site -> what may replace it, in order."""
        found: dict[int, list[Alternative]] = defaultdict(list)
        begin, items = self._section(".altinstructions")
        for at, (site, other, feature, size, own) in _items(ALTERNATIVE, begin, items):
            found[at + site].append(Alternative(at + 4 + other, feature, size, own))
        return dict(found)

    def _labels(self) -> Iterator[tuple[int, Label]]:
        for at, (place, target, key) in self._between(JUMP_LABEL, "__{}___jump_table"):
            yield at + place, Label(at + 4 + target, at + 8 + key)

    def _static_calls(self) -> Iterator[tuple[int, int]]:
        """Call -> its key's address with flags."""
        for at, (place, key) in self._between(STATIC_CALL, "__{}_static_call_sites"):
            yield at + place, at + 4 + key

    def _between(self, item: struct.Struct, names: str) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Items between two symbols."""
        begin, end = (self.symbols[names.format(each)] for each in ("start", "stop"))
        return _items(item, begin, self.read(begin, end - begin))


def _items(
    item: struct.Struct, begin: int, content: bytes
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Each item's address and values."""
    for number, values in enumerate(item.iter_unpack(content)):
        yield begin + item.size * number, values


def _around(begin: int, content: bytes) -> Iterator[int]:
    return (at + way for at, (way,) in _items(RELATIVE, begin, content))


def _unpacked(image: Path) -> bytes:
    """The ELF file in an image, and what follows."""
    packed = image.read_bytes()
    begin = packed.find(ZSTD)
    try:
        return zstandard.ZstdDecompressor().decompressobj().decompress(packed[max(begin, 0) :])
    except zstandard.ZstdError as error:
        raise KadenceError(
            f"{image} is not compressed by zstd, as Debian's kernels of series 6.12 are; its code "
            "can't be copied"
        ) from error


def _sections(content: bytes) -> dict[str, tuple[int, int, int]]:
    """Name -> begin, end and place in the file, of the sections that are in memory."""
    try:
        return {
            section.name: (
                section["sh_addr"],
                section["sh_addr"] + section["sh_size"],
                section["sh_offset"],
            )
            for section in ELFFile(io.BytesIO(content)).iter_sections()
            if section["sh_addr"] and section["sh_type"] != "SHT_NOBITS"
        }
    except ELFError as error:
        raise KadenceError(f"the kernel's image has no ELF file: {error}") from error


def _places(content: bytes) -> Places:
    """Read the three lists from the end: each ends with a zero, in front of its items."""
    lists: list[frozenset[int]] = []
    end = len(content) // 4 * 4
    words = struct.unpack(f"<{end // 4}I", content[:end])
    at = len(words) - 1
    while len(lists) < 3:
        items = set()
        while words[at]:
            items.add(UPPER_HALF | words[at])
            at -= 1
        at -= 1
        lists.append(frozenset(items))
    absolute, _relative_to_variables_of_processors, wide = lists
    return Places(absolute, wide)
