# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the types of functions from BTF, the type information of Linux.

The kernel has it in /sys/kernel/btf/vmlinux, and GCC writes it with -gbtf. The format is described
in Documentation/bpf/btf.rst of the kernel's source.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

OF_OBJECT = ".BTF"  # the section of an object file
FLAG = "-gbtf"  # GCC's
HEADER = struct.Struct("<HBBIIIII")
MAGIC = 0xEB9F
TYPE = struct.Struct("<III")
PAIR = struct.Struct("<II")
INTEGER = struct.Struct("<I")

(INT, POINTER, ARRAY, STRUCTURE, UNION, ENUMERATION, FORWARD, TYPEDEF, VOLATILE, CONSTANT,
 RESTRICT, FUNCTION, PROTOTYPE, VARIABLE, SECTION, FLOAT, DECLARATION_TAG, TYPE_TAG,
 ENUMERATION_64) = range(1, 20)  # fmt: skip
# Bytes that follow a type: for each kind, those of one member, and those beside the members.
PER_MEMBER = {STRUCTURE: 12, UNION: 12, ENUMERATION: 8, PROTOTYPE: 8, SECTION: 12,
              ENUMERATION_64: 12}  # fmt: skip
BESIDE = {INT: 4, ARRAY: 12, VARIABLE: 4, DECLARATION_TAG: 4}
# Say nothing about how a value is passed.
TRANSPARENT = frozenset({TYPEDEF, VOLATILE, CONSTANT, RESTRICT, TYPE_TAG})
SIGNED = 1
POINTER_BYTES = 8
ELLIPSIS = "…"


# A kernel has some 150,000.
@dataclass(frozen=True, slots=True)
class Type:
    """An entry of BTF: `value` is its size in bytes or another type, depending on its kind."""

    name: str
    kind: int
    value: int
    detail: bytes


@dataclass(frozen=True)
class Signature:
    """How a function is called: its result and its parameters, each as a text."""

    result: str
    parameters: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.result}({', '.join(self.parameters) or 'void'})"


class Types:
    """The types of a kernel or of an object file."""

    def __init__(self, content: bytes) -> None:
        """Read BTF; raises ValueError if this is none."""
        if len(content) < HEADER.size:
            raise ValueError("it is too short to be BTF")
        magic, _version, _flags, length, types, size, strings, _ = HEADER.unpack_from(content)
        if magic != MAGIC:
            raise ValueError("it is not BTF")
        self._strings = content[length + strings :]
        self._types = [Type("void", 0, 0, b"")]
        at, end = length + types, length + types + size
        while at < end:
            at = self._read(content, at)
        self._functions = {each.name: each.value for each in self._types if each.kind == FUNCTION}

    def signature(self, function: str) -> Signature | None:
        """How the function is called; None if BTF does not say."""
        if function not in self._functions:
            return None
        prototype = self._types[self._functions[function]]
        parameters = [kind for _name, kind in PAIR.iter_unpack(prototype.detail)]
        return Signature(
            self._text(prototype.value), tuple(self._parameter(kind) for kind in parameters)
        )

    def prototype(self, function: str) -> tuple[int, list[int]] | None:
        """The numbers of the types of the result and the parameters; 0 is void or an ellipsis."""
        if function not in self._functions:
            return None
        found = self._types[self._functions[function]]
        return found.value, [kind for _name, kind in PAIR.iter_unpack(found.detail)]

    def size(self, number: int) -> int:
        """The bytes of a value of this type."""
        found = self._types[number]
        if found.kind in TRANSPARENT:
            return self.size(found.value)
        if found.kind == ARRAY:
            element, _index, count = struct.unpack("<III", found.detail)
            return self.size(element) * int(count)
        return POINTER_BYTES if found.kind == POINTER else found.value

    def is_named(self, number: int, name: str) -> bool:
        """Whether this type, or a type that it stands for, or points to, has the name."""
        while number:
            found = self._types[number]
            if found.name == name:
                return True
            if found.kind not in TRANSPARENT | {POINTER}:
                return False
            number = found.value
        return False

    def _read(self, content: bytes, at: int) -> int:
        name, information, value = TYPE.unpack_from(content, at)
        kind, members = int(information >> 24 & 0x1F), int(information & 0xFFFF)
        length = PER_MEMBER.get(kind, 0) * members + BESIDE.get(kind, 0)
        at += TYPE.size
        self._types.append(Type(self._string(name), kind, value, content[at : at + length]))
        return at + length

    def _string(self, at: int) -> str:
        return self._strings[at : self._strings.index(b"\0", at)].decode()

    def _parameter(self, number: int) -> str:
        return self._text(number) if number else ELLIPSIS

    def _text(self, number: int) -> str:
        """The type without names that say nothing about how a value is passed."""
        found = self._types[number]
        if found.kind in TRANSPARENT:
            return self._text(found.value)
        if found.kind == POINTER:
            return f"{self._text(found.value)} *"
        if found.kind == INT:
            return _integer(found)
        if found.kind in (ENUMERATION, ENUMERATION_64):
            return f"enumeration of {found.value} bytes"
        if found.kind in (STRUCTURE, UNION, FORWARD):
            return f"struct {found.name}" if found.name else "unnamed struct"
        if found.kind in (FUNCTION, PROTOTYPE):
            return "function"
        return found.name or "array"


def of_object(path: Path) -> Types:
    """The types of an object file that GCC compiled with FLAG."""
    with path.open("rb") as content:
        section = ELFFile(content).get_section_by_name(OF_OBJECT)
        assert section is not None, f"{path} was compiled without {FLAG}"
        return Types(section.data())


def _integer(found: Type) -> str:
    (encoding,) = INTEGER.unpack(found.detail)
    sign = "signed" if encoding >> 24 & SIGNED else "unsigned"
    return f"{sign} integer of {found.value} bytes"
