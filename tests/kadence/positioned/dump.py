# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the running kernel's text and what a module with copies holds, by /proc/kcore.

    python dump.py FOLDER

Each file is named SYMBOL.ADDRESS, the begin of what it holds.
"""

import struct
import sys
from pathlib import Path

HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")
RANGES = (
    ("_stext", "_etext"),
    ("kadence_code", "kadence_code_end"),
    ("kadence_runs", "kadence_runs_end"),
)


def main() -> None:
    """Write each range that kallsyms knows."""
    lines = [line.split() for line in Path("/proc/kallsyms").read_text().splitlines()]
    symbols = {words[2]: int(words[0], 16) for words in lines}
    with Path("/proc/kcore").open("rb") as memory:
        offset, count = _headers(memory.read(HEADER.size))
        memory.seek(offset)
        table = memory.read(count * SEGMENT.size)
        segments = [(each[3], each[2], each[5]) for each in SEGMENT.iter_unpack(table)]
        for begin, end in RANGES:
            address, size = symbols[begin], symbols[end] - symbols[begin]
            # Those that begin last are the kernel's own and the modules'.
            [place] = [at + address - to for to, at, of in segments if to <= address < to + of][-1:]
            memory.seek(place)
            (Path(sys.argv[1]) / f"{begin}.{address:x}").write_bytes(memory.read(size))


def _headers(header: bytes) -> tuple[int, int]:
    fields = HEADER.unpack(header)
    return fields[4], fields[9]


if __name__ == "__main__":
    main()
