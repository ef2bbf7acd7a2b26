# SPDX-License-Identifier: GPL-2.0-or-later
"""The sections that a kernel's code was linked from, as the linker's map lists them."""

import bisect
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

CODE = ".text "  # how the lines of the output section begin
# A name that is too long has a line of its own.
WHOLE = re.compile(r"^ (\S+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S+)$")
NAME = re.compile(r"^ (\.\S+)$")
REST = re.compile(r"^\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S+)$")


@dataclass(frozen=True)
class Section:
    """A section of an object."""

    address: int
    bytes: int
    name: str
    object: str

    @property
    def key(self) -> str:
        """What an order calls it."""
        return f"{self.object} {self.name}"

    @property
    def can_move(self) -> bool:
        """The kernel's linker script gives other sections of code a place of their own."""
        return self.name == ".text" or self.name.startswith(".text.")


def of_map(lines: Iterable[str]) -> list[Section]:
    """Sections with code, by address."""
    found = [each for each in _sections(_of_code(lines)) if each.bytes]
    return sorted(found, key=lambda each: each.address)


def _of_code(lines: Iterable[str]) -> Iterator[str]:
    inside = False
    for line in lines:
        if line.startswith("."):  # an output section
            inside = line.startswith(CODE)
        elif inside:
            yield line.rstrip("\n")


def _sections(lines: Iterable[str]) -> Iterator[Section]:
    name = ""
    for line in lines:
        if match := WHOLE.match(line):
            yield Section(int(match[2], 16), int(match[3], 16), match[1], match[4])
        elif (match := REST.match(line)) and name:
            yield Section(int(match[1], 16), int(match[2], 16), name, match[3])
        alone = NAME.match(line)
        name = alone[1] if alone else ""


def text(sections: Iterable[Section]) -> str:
    """Lines "ADDRESS BYTES OBJECT NAME"."""
    return "".join(f"{s.address:x} {s.bytes} {s.object} {s.name}\n" for s in sections)


def parse(lines: Iterable[str]) -> list[Section]:
    """Parse those lines."""
    found = []
    for line in lines:
        address, size, of_object, name = line.split()
        found.append(Section(int(address, 16), int(size), name, of_object))
    return found


class Sections:
    """Finds sections by address."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self.sections = sections
        self._addresses = [each.address for each in sections]

    def at(self, address: int) -> Section | None:
        """The section that has this address."""
        number = bisect.bisect_right(self._addresses, address) - 1
        if number < 0:
            return None
        section = self.sections[number]
        return section if address < section.address + section.bytes else None

    def object_at(self, address: int) -> str:
        """The object that has this address; an empty string if there is none."""
        section = self.at(address)
        return section.object if section else ""
