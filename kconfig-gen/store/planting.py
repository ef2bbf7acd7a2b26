# SPDX-License-Identifier: GPL-2.0-or-later
"""Plants places for units: the functions that they replace begin with an instruction that does
nothing, which the driver turns into a call.

A first pass compiles the kernel and shows which object has each function. These objects, and the
units, are then compiled for their types, which must agree. A last pass compiles the objects with
GCC's instructions for profilers as places. A plugin of GCC (kconfig-gen/plant) keeps the replaced
functions whole, and compiles all others as before.
"""

import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Symbol, SymbolTableSection

from kadence.base import resources
from kadence.base.errors import BuildError, KadenceError
from kadence.kadapt.live import btf, signatures
from kadence.kadapt.live.source import FUNCTION, ORIGINAL
from kadence.kconfig.tree import commands, source, units

# A goal of make that compiles all objects of the kernel, and the archive that lists them then.
GOAL, OBJECTS = "vmlinux_o", "vmlinux.a"
NM_LINE = re.compile(r"([^:\s]+\.o):\s*[0-9a-f]*\s+([A-Za-z])\s+(\S+)\s*$")
OWN = f"{source.DRIVER_FOLDER}/{units.FOLDER}/"
CODE = frozenset("tTW")
UNDEFINED = "U"
FLAGS = "-pg -mfentry -mnop-mcount"
PLUGIN = "kconfig-gen/places.so"
PLANTED = Path("planted")  # what the last pass needs, in the kernel's folder
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
    replaced: Mapping[str, list[str]]  # unit's object -> functions

    def holders(self) -> dict[str, list[str]]:
        """Object -> the replaced functions in it; raises BuildError if one can't be replaced."""
        found: dict[str, list[str]] = defaultdict(list)
        for name in sorted(name for names in self.replaced.values() for name in names):
            found[self.holder(name)].append(name)
        return dict(found)

    def holder(self, name: str) -> str:
        """The object that has the function."""
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


def plant(folder: Path, flags: str, compile_objects: Callable[[Sequence[str]], None]) -> None:
    """Choose flags for the objects in which there must be places; the folder has OBJECTS.

    Raises BuildError if a unit declares a function in another way than the kernel.
    """
    lines: list[str] = []
    commands.listen(["nm", "-A", OBJECTS], folder, lines.append)
    objects = _objects(lines)
    holders = objects.holders()
    compiled = sorted({*holders, *objects.replaced})
    _choose(folder, [_only(path, f"CFLAGS_{_file(path)} += {btf.FLAG}\n") for path in compiled])
    compile_objects(compiled)
    _require_same_types(folder, objects)
    (folder / PLANTED).mkdir()
    # GCC gets a path without the user's folders, for ccache.
    shutil.copyfile(resources.built(PLUGIN), folder / PLANTED / Path(PLUGIN).name)
    all_flags = f"{FLAGS} {flags}".rstrip()
    _choose(folder, [_flags(path, names, folder, all_flags) for path, names in holders.items()])


def _choose(folder: Path, lines: Sequence[str]) -> None:
    (folder / units.PLANTED).write_text("".join(lines), encoding="ascii")


def _require_same_types(folder: Path, objects: Objects) -> None:
    for unit, names in objects.replaced.items():
        own = btf.of_object(folder / unit)
        for name in names:
            try:
                signatures.require_same([name], own, btf.of_object(folder / objects.holder(name)))
            except KadenceError as error:
                raise BuildError(error.reason) from error


def _objects(lines: list[str]) -> Objects:
    definitions: dict[str, list[str]] = defaultdict(list)
    replaced: dict[str, list[str]] = defaultdict(list)
    for path, kind, name in _symbols(lines):
        if kind in CODE:
            definitions[name].append(path)
        elif kind == UNDEFINED and path.startswith(OWN) and name.startswith(FUNCTION):
            replaced[path].append(name.removeprefix(FUNCTION))
    if not replaced:
        raise BuildError("the units replace no function; declare one with KADENCE_REPLACES")
    return Objects(definitions, replaced)


def _symbols(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    for line in lines:
        found = NM_LINE.search(line)
        if found is not None:
            path, kind, name = found.groups()
            yield path, kind, name


def _flags(path: str, names: list[str], folder: Path, flags: str) -> str:
    """Kbuild's lines for one object, whose header with names is written."""
    header = PLANTED / f"{path.replace('/', '-').removesuffix('.o')}.h"
    text = "".join(
        NAMES.format(name=name, function=FUNCTION, original=ORIGINAL, place=len(PLACE))
        for name in names
    )
    (folder / header).write_text(text, encoding="ascii")
    file = _file(path)
    plugin = PLANTED / Path(PLUGIN).name
    plugin_flags = (
        f"-fplugin={plugin} -fplugin-arg-{plugin.stem}-functions={':'.join(names)} "
        f"-include {header}"
    )
    added = f"CFLAGS_{file} += {flags} {plugin_flags}\n"
    return _only(path, f"{added}CFLAGS_REMOVE_{file} += {REFUSED}\n")


def _file(path: str) -> str:
    return path.rpartition("/")[2]


def _only(path: str, lines: str) -> str:
    """Kbuild's lines that hold for the object's folder."""
    return f"ifeq ($(obj),{path.rpartition('/')[0]})\n{lines}endif\n"


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
