# SPDX-License-Identifier: GPL-2.0-or-later
"""The text of source lines, where the source is still where the compiler, or the user, has it."""

from collections.abc import Iterable
from pathlib import Path

LARGEST_FILE = 4_000_000  # bytes; what is larger was generated and tells a reader nothing
LONGEST_LINE = 160

Place = tuple[str, int]


def read(places: Iterable[Place], folder: Path) -> dict[Place, str]:
    """The lines that could be read; `folder` is where relative names may begin."""
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
        try:
            if candidate.stat().st_size <= LARGEST_FILE:
                return candidate.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
    return []
