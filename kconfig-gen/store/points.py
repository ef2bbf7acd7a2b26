# SPDX-License-Identifier: GPL-2.0-or-later
"""Plants points for probes: each function begins with an instruction that does nothing.

GCC writes the instruction, as for profilers, and lists the addresses. A plugin of GCC
(kconfig-gen/plant) adds how each function is called. What runs in the programs' own address spaces,
or on the host's threads, has no points: Kbuild compiles nearly all of that by other rules.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from kadence.base import resources
from kadence.base.errors import BuildError
from kadence.kconfig.tree import units

FLAGS = "-pg -mfentry -mnop-mcount -mrecord-mcount"
REFUSED = "-fomit-frame-pointer"  # GCC takes no -pg beside it, and omits them by itself
OF_PROGRAMS = "arch/x86/um/vdso"  # runs in programs
PLUGIN = "kconfig-gen/points.so"
PLANTED = Path("planted")  # the plugin, in the kernel's folder
# The sections with the addresses and with how functions are called.
ADDRESSES, CALLS = "__mcount_loc", ".comment.kadapt_points"
ADDRESS_BYTES = 8
COUNT, TRACEPOINT = 0, 4  # of enum kadapt_probe_kind
TRACEPOINT_SYMBOL = "__tracepoint_"
# Begins for one task and returns for another.
BETWEEN_TASKS = frozenset({"__switch_to"})
# Stubs find a function by its multiple of 16 bytes. GCC does not align functions that seldom run.
ALIGNMENT = 16


@dataclass(frozen=True)
class Symbol:
    """A function or a tracepoint."""

    address: int
    name: str
    is_tracepoint: bool

    @property
    def can_be_probed(self) -> bool:
        return self.address % ALIGNMENT == 0 and self.name not in BETWEEN_TASKS


def plant(folder: Path, flags: str) -> None:
    """Let all objects of the kernel have points."""
    plugin = folder / PLANTED / Path(PLUGIN).name
    plugin.parent.mkdir()
    # GCC gets a path without the user's folders, for ccache.
    shutil.copyfile(resources.built(PLUGIN), plugin)
    words = f"{FLAGS} {flags} -fplugin={plugin.relative_to(folder)}"
    (folder / units.PLANTED).write_text(
        f"ifneq ($(obj),{OF_PROGRAMS})\n"
        f"ccflags-y += {words}\nccflags-remove-y += {REFUSED}\nendif\n",
        encoding="ascii",
    )


def table(vmlinux: Path) -> str:
    """Lines "ADDRESS KIND NAME" of all functions with points, and of tracepoints, by address."""
    with vmlinux.open("rb") as content:
        image = ELFFile(content)
        kinds, planted = _kinds(image), _planted(image)
        symbols = list(_symbols(image))
    if not planted:
        raise BuildError(f"{vmlinux.name} has no function with a point, though all should have one")
    functions = [each for each in symbols if each.address in planted and each.can_be_probed]
    # System calls have another name, an alias.
    known = {each.address: kinds[each.name] for each in functions if each.name in kinds}
    rows = [(each.address, known.get(each.address, COUNT), each.name) for each in functions]
    rows += [(each.address, TRACEPOINT, each.name) for each in symbols if each.is_tracepoint]
    return "".join(f"{address:x} {kind} {name}\n" for address, kind, name in sorted(rows))


def _kinds(image: ELFFile) -> dict[str, int]:
    """How functions of a name are called. Functions of the same name may differ."""
    found: dict[str, set[int]] = {}
    section = image.get_section_by_name(CALLS)
    for line in section.data().decode("ascii").splitlines() if section else []:
        kind, name = line.split()
        found.setdefault(name, set()).add(int(kind))
    return {name: each.pop() if len(each) == 1 else COUNT for name, each in found.items()}


def _planted(image: ELFFile) -> set[int]:
    section = image.get_section_by_name(ADDRESSES)
    content = section.data() if section else b""
    return {
        int.from_bytes(content[at : at + ADDRESS_BYTES], "little")
        for at in range(0, len(content), ADDRESS_BYTES)
    }


def _symbols(image: ELFFile) -> Iterator[Symbol]:
    """All functions and tracepoints."""
    table = image.get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)
    for each in table.iter_symbols():
        kind = each["st_info"]["type"]
        is_tracepoint = kind == "STT_OBJECT" and each.name.startswith(TRACEPOINT_SYMBOL)
        if is_tracepoint or kind == "STT_FUNC":
            yield Symbol(each["st_value"], each.name, is_tracepoint)
