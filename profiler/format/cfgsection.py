# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads an ELF file's build-id and the CFG section that Kadence's compiler wrappers write.

docs/artefacts-profile.md describes the section's format.
"""

from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection

from kadence.base.errors import ArtefactError
from kadence.profiler.format.profile import Function, Loop

SECTION = ".kadence.cfg"


def read(path: Path) -> tuple[str | None, tuple[Function, ...]]:
    """Return the build-id, or None, and the functions that a wrapper compiled."""
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            section = elf.get_section_by_name(SECTION)
            text = section.data() if section is not None else b""
            return _build_id(elf), parse(text)
    except (ELFError, ValueError, IndexError) as error:
        raise ArtefactError(f"{path} is damaged ({error}); build it again") from error


def _build_id(elf: ELFFile) -> str | None:
    for section in elf.iter_sections():
        if not isinstance(section, NoteSection):
            continue
        for note in section.iter_notes():
            if note["n_type"] == "NT_GNU_BUILD_ID":
                return str(note["n_desc"])
    return None


def parse(data: bytes) -> tuple[Function, ...]:
    """Parse the records of a CFG section; NUL bytes between them are padding."""
    text = data.decode("utf-8", "surrogateescape").replace("\0", "")
    lines = iter(line.split("\t") for line in text.splitlines() if line)
    functions = []
    for record in lines:
        if record[0] != "F" or len(record) != 7:
            raise ValueError(f"section {SECTION} has an unknown record {record[0]!r}")
        _kind, name, file, line, checksum, entry, count = record
        loops = tuple(_loop(next(lines, [])) for _ in range(int(count)))
        functions.append(Function(name, file, int(line), checksum, loops, _block(entry)))
    return tuple(functions)


def _loop(record: list[str]) -> Loop:
    if len(record) != 7 or record[0] != "L":
        raise ValueError(f"section {SECTION} has fewer loops than a function's record says")
    index, line, depth = (int(field) for field in record[1:4])
    latches = tuple(int(block) for block in record[6].split(",") if block)
    return Loop(index, line, depth, _block(record[4]), _block(record[5]), latches)


def _block(number: str) -> int | None:
    """Return a block's index; None for 0, the index of GCC's artificial entry block."""
    return int(number) or None
