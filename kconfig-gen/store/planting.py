# SPDX-License-Identifier: GPL-2.0-or-later
"""Plants places for units: the functions that they replace begin with an instruction that does
nothing, which the driver turns into a call.

A first pass compiles the kernel and shows which object has each function. A second pass compiles
these objects again, with GCC's instructions for profilers as places.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Symbol, SymbolTableSection

from kadence.base.errors import BuildError
from kadence.kadapt.live.source import FUNCTION, ORIGINAL
from kadence.kconfig.tree import commands, source, units

# A goal of make that compiles all objects of the kernel, and the archive that lists them then.
GOAL, OBJECTS = "vmlinux_o", "vmlinux.a"
NM_LINE = re.compile(r"([^:\s]+\.o):\s*[0-9a-f]*\s+([A-Za-z])\s+(\S+)\s*$")
CODE = frozenset("tTW")
UNDEFINED = "U"
# The second pass leaves the functions whole: the places are at their beginnings.
FLAGS = (
    "-pg -mfentry -mnop-mcount -fno-inline-functions -fno-inline-small-functions "
    "-fno-inline-functions-called-once -fno-partial-inlining -fno-ipa-sra -fno-ipa-cp -fno-ipa-icf"
)
REFUSED = "-fomit-frame-pointer"  # GCC takes no -pg beside it, and omits them by itself
PLACE = bytes((0x0F, 0x1F, 0x44, 0x00, 0x00))
# Global names for a function, which may be static, and for the instruction behind its place.
NAMES = """asm(".globl {name}\\n"
    ".globl {function}{name}\\n.set {function}{name}, {name}\\n"
    ".globl {original}{name}\\n.set {original}{name}, {name} + {place}");
"""


@dataclass(frozen=True)
class Objects:
    """What the objects of a kernel define, and which functions its units replace."""

    definitions: Mapping[str, list[str]]  # function -> objects
    replaced: list[str]

    def holders(self) -> dict[str, list[str]]:
        """Object -> the replaced functions in it; raises BuildError if one can't be replaced."""
        found: dict[str, list[str]] = defaultdict(list)
        for name in self.replaced:
            found[self._holder(name)].append(name)
        return dict(found)

    def _holder(self, name: str) -> str:
        holders = self.definitions.get(name, [])
        if not holders:
            raise BuildError(
                f"this kernel has no function {name}; it may be configured out, or a part of its "
                "callers: replace those"
            )
        if len(holders) > 1:
            raise BuildError(
                f"this kernel has {len(holders)} functions named {name} ({', '.join(holders)}), so "
                "it is not clear which is meant; replace a function that calls it"
            )
        return holders[0]


def plant(folder: Path, flags: str) -> None:
    """Choose flags for the objects in which there must be places; the folder has OBJECTS."""
    lines: list[str] = []
    commands.listen(["nm", "-A", OBJECTS], folder, lines.append)
    chosen = [
        _flags(path, names, folder, f"{FLAGS} {flags}".rstrip())
        for path, names in _objects(lines).holders().items()
    ]
    (folder / units.PLANTED).write_text("".join(chosen), encoding="ascii")


def _objects(lines: list[str]) -> Objects:
    definitions: dict[str, list[str]] = defaultdict(list)
    replaced = set()
    own = f"{source.DRIVER_FOLDER}/{units.FOLDER}/"
    for path, kind, name in _symbols(lines):
        if kind in CODE:
            definitions[name].append(path)
        elif kind == UNDEFINED and path.startswith(own) and name.startswith(FUNCTION):
            replaced.add(name.removeprefix(FUNCTION))
    if not replaced:
        raise BuildError("the units replace no function; declare one with KADENCE_REPLACES")
    return Objects(definitions, sorted(replaced))


def _symbols(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    for line in lines:
        found = NM_LINE.search(line)
        if found is not None:
            path, kind, name = found.groups()
            yield path, kind, name


def _flags(path: str, names: list[str], folder: Path, flags: str) -> str:
    """Kbuild's lines for one object, whose header with names is written."""
    header = Path("planted") / f"{path.replace('/', '-').removesuffix('.o')}.h"
    (folder / header).parent.mkdir(exist_ok=True)
    text = "".join(
        NAMES.format(name=name, function=FUNCTION, original=ORIGINAL, place=len(PLACE))
        for name in names
    )
    (folder / header).write_text(text, encoding="ascii")
    place, _, file = path.rpartition("/")
    return (
        f"ifeq ($(obj),{place})\n"
        f"CFLAGS_{file} += {flags} -include {header}\n"
        f"CFLAGS_REMOVE_{file} += {REFUSED}\n"
        "endif\n"
    )


def check(vmlinux: Path) -> None:
    """Raise BuildError if a function that a unit replaces has no place."""
    with vmlinux.open("rb") as content:
        image = ELFFile(content)
        table = image.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        for symbol in table.iter_symbols():
            if symbol.name.startswith(FUNCTION) and not _has_place(image, symbol):
                raise BuildError(
                    f"{symbol.name.removeprefix(FUNCTION)} can't be replaced, because GCC does not "
                    "let it be traced; replace a function that calls it"
                )


def _has_place(image: ELFFile, symbol: Symbol) -> bool:
    section = image.get_section(symbol["st_shndx"])
    at = symbol["st_value"] - section["sh_addr"]
    return section.data()[at : at + len(PLACE)] == PLACE
