# SPDX-License-Identifier: GPL-2.0-or-later
"""From addresses to functions and source lines.

Lines come from binutils' addr2line, including inlined calls (-i): an #ifdef around the call of an
inlined function is in the caller's file.
"""

import bisect
import posixpath
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from kadence.base.errors import ArtefactError, ToolError

ADDR2LINE = "addr2line"
# Kadence builds in a folder with such a name in the tree (kconfig-gen/store/build.py).
BUILD_FOLDER = re.compile(r"^(.*)/\.build-[^/]+(/.*)$")
PLACE = re.compile(r"^(.+):(\d+)(?: \(discriminator \d+\))?$")

Line = tuple[str, int]  # file below the tree, number


class Functions:
    """The functions of a kernel, by address."""

    def __init__(self, vmlinux: Path) -> None:
        try:
            with vmlinux.open("rb") as content:
                table = ELFFile(content).get_section_by_name(".symtab")
                if not isinstance(table, SymbolTableSection):
                    raise ArtefactError(f"{vmlinux} has no symbol table; build the kernel anew")
                found = sorted(
                    (symbol["st_value"], symbol.name)
                    for symbol in table.iter_symbols()
                    if symbol["st_info"]["type"] == "STT_FUNC"
                )
        except (OSError, ELFError) as error:
            raise ArtefactError(f"{vmlinux} can't be read as a kernel: {error}") from error
        self.starts = [start for start, _ in found]
        self.names = [name for _, name in found]

    def containing(self, addresses: Iterable[int]) -> set[str]:
        """Names of the functions that contain these addresses."""
        found = set()
        for address in addresses:
            index = bisect.bisect_right(self.starts, address) - 1
            if index >= 0:
                found.add(self.names[index])
        return found


def lines(vmlinux: Path, addresses: Iterable[int]) -> Counter[Line]:
    """Source lines of these instructions, each with its number of instructions."""
    if shutil.which(ADDR2LINE) is None:
        raise ToolError(f"{ADDR2LINE} is missing; install it with: apt-get install binutils")
    asked = "".join(f"{address:#x}\n" for address in sorted(addresses))
    answered = subprocess.run(
        [ADDR2LINE, "-i", "-e", str(vmlinux)],
        input=asked,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if answered.returncode:
        raise ToolError(f"{ADDR2LINE} can't read {vmlinux}: {answered.stderr.strip()[-200:]}")
    return Counter(parse(answered.stdout.splitlines()))


def parse(answers: Iterable[str]) -> Iterator[Line]:
    """The places in addr2line's answers, with paths relative to the tree."""
    for answer in answers:
        match = PLACE.match(answer)
        if match is None:
            continue
        file = below_tree(match[1])
        if file is not None:
            yield file, int(match[2])


def below_tree(path: str) -> str | None:
    """The file's path relative to the kernel tree; None for a file that the build generated."""
    match = BUILD_FOLDER.match(path)
    if match is None:
        return None
    whole = posixpath.normpath(path)
    tree = posixpath.normpath(match[1]) + "/"
    if not whole.startswith(tree):
        return None
    relative = whole.removeprefix(tree)
    return None if relative.startswith(".build-") else relative
