# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the text of source lines, if the source files are still in their place.

The profile gives the names of the files, and its author may have named any file of the reader's
machine. So the page shows only lines of files below the given folder whose names end like those of
source files.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

LARGEST_FILE = 4_000_000  # bytes; a larger file was generated and tells a reader nothing
LONGEST_LINE = 160

# Suffixes of C, C++, Fortran and assembler sources, and of related included or generated files.
SOURCES = frozenset(
    (
        *(".c", ".h", ".cc", ".cp", ".cpp", ".cxx", ".c++", ".hh", ".hp", ".hpp", ".hxx", ".h++"),
        *(".ipp", ".tcc", ".tpp", ".inl", ".inc", ".def", ".i", ".ii", ".y", ".l", ".yy", ".ll"),
        *(".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08", ".s", ".asm"),
    )
)

Place = tuple[str, int]


def read(places: Iterable[Place], folder: Path) -> dict[Place, str]:
    """Returns the lines that could be read. Relative names are looked for below `folder`."""
    by_file: dict[str, list[int]] = {}
    for file, line in places:
        if file and line > 0:
            by_file.setdefault(file, []).append(line)
    found = {}
    for file, numbers in by_file.items():
        lines = _lines(file, folder)
        for number in numbers:
            if number <= len(lines):
                found[file, number] = lines[number - 1].strip()[:LONGEST_LINE]
    return found


def _lines(file: str, folder: Path) -> list[str]:
    candidates = (folder / file, folder / "source" / file)
    for candidate in candidates:
        with suppress(OSError, ValueError, RuntimeError):
            found = candidate.resolve(strict=True)
            if _may_be_shown(found, folder):
                return found.read_text(encoding="utf-8", errors="replace").splitlines()
    return []


def _may_be_shown(found: Path, folder: Path) -> bool:
    """Whether the page may show lines of this file. `found` must contain no symbolic links."""
    return (
        found.is_relative_to(folder.resolve())
        and found.suffix.lower() in SOURCES
        and found.is_file()
        and found.stat().st_size <= LARGEST_FILE
    )
