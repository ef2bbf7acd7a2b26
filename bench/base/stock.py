# SPDX-License-Identifier: GPL-2.0-or-later
"""Facts on kernels that need no boot: Debian's packaged kernel, and the smallest configuration."""

import io
import struct
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from kadence.base.errors import ToolError
from kadence.boot import debian
from kadence.kconfig.configuration.configure import make, values
from kadence.kconfig.configuration.identity import gather
from kadence.kconfig.language.kconfig_files import definitions
from kadence.kconfig.request import targets
from kadence.kconfig.request.request import BuildRequest
from kadence.kconfig.tree import commands, source
from kadence.lab.guest import X86_64

# Documentation/arch/x86/boot.rst: number of set-up sectors, and place of the compressed kernel.
SETUP_SECTORS, PAYLOAD, SECTOR_BYTES, DEFAULT_SECTORS = 0x1F1, 0x248, 512, 4
LENGTH_BYTES = 4  # after the payload: its unpacked length
UNPACKERS = {
    b"\x28\xb5\x2f\xfd": ["zstd", "-dcq"],
    b"\xfd7zXZ\x00": ["xz", "-dcq", "--single-stream"],
    b"\x1f\x8b": ["gzip", "-dcq"],
}
# The smallest choice for a 64-bit kernel. With EXPERT Kconfig forces fewer symbols.
SMALLEST = "CONFIG_64BIT=y\nCONFIG_EXPERT=y\n"


@dataclass(frozen=True)
class Symbols:
    """The number of symbols that are on (y or m), and of those that users can set by a prompt."""

    on: int
    chosen: int

    def __str__(self) -> str:
        return f"{self.on:,} ({self.chosen:,})"


@dataclass(frozen=True)
class Stock:
    """Debian's packaged kernel."""

    release: str
    text_bytes: int
    modules: int
    symbols: Symbols


def facts(release: str) -> Stock:
    """Read the facts on a packaged kernel."""
    image = debian.kernel_image(release)
    config = image.parent / f"config-{release}"
    modules = sum(1 for _ in (image.parent.parent / "lib/modules").rglob("*.ko*"))
    return Stock(release, text_bytes(unpack(image)), modules, count(config))


def unpack(image: Path) -> bytes:
    """Returns the vmlinux inside a bzImage."""
    content = image.read_bytes()
    sectors = content[SETUP_SECTORS] or DEFAULT_SECTORS
    offset, length = struct.unpack_from("<II", content, PAYLOAD)
    start = (sectors + 1) * SECTOR_BYTES + offset
    payload = content[start : start + length - LENGTH_BYTES]
    for magic, command in UNPACKERS.items():
        if payload.startswith(magic):
            done = subprocess.run(command, input=payload, capture_output=True, check=False)
            if done.returncode == 0:
                return done.stdout
            raise ToolError(f"{command[0]} cannot unpack {image}: {done.stderr.decode().strip()}")
    raise ToolError(f"{image} has an unknown compression format ({payload[:4].hex()})")


def text_bytes(vmlinux: bytes) -> int:
    """Returns the bytes of code and read-only data, as size(1) counts them under `text`."""
    sections = ELFFile(io.BytesIO(vmlinux)).iter_sections()
    return sum(
        int(section["sh_size"])
        for section in sections
        if section["sh_flags"] & SH_FLAGS.SHF_ALLOC and not section["sh_flags"] & SH_FLAGS.SHF_WRITE
    )


def count(config: Path) -> Symbols:
    """Count the symbols of a finished configuration of the reference series."""
    on = [symbol for symbol, value in values(config).items() if value in {"y", "m"}]
    return Symbols(len(on), len(_offered().intersection(on)))


def smallest() -> Symbols:
    """Returns the fewest symbols that an x86_64 kernel of this series can have, from Kbuild."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wanted = folder / "wanted.config"
        wanted.write_text(SMALLEST, encoding="utf-8")
        goal = make(gather(BuildRequest(target=X86_64)), folder, "allnoconfig")
        extra = {"KCONFIG_ALLCONFIG": str(wanted)}
        commands.run(goal, _tree(), folder / "log", extra=extra)
        return count(folder / ".config")


@cache
def _tree() -> Path:
    """Returns the path of the series' source as published."""
    with tempfile.TemporaryDirectory() as folder:
        return source.pristine(gather(BuildRequest(target=X86_64)).origin, Path(folder) / "log")


@cache
def _offered() -> frozenset[str]:
    """Returns the symbols of that source that have a prompt."""
    variables = targets.get(X86_64).kconfig_variables
    return frozenset(one.symbol for one in definitions(_tree(), variables) if one.prompt)
