# SPDX-License-Identifier: GPL-2.0-or-later
"""Initial RAM file systems in the kernel's newc format. The same input gives the same bytes."""

import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

DIRECTORY = stat.S_IFDIR | 0o755
PROGRAM = stat.S_IFREG | 0o755
LINK = stat.S_IFLNK | 0o777
CONSOLE = stat.S_IFCHR | 0o600
CONSOLE_NUMBER = (5, 1)
TRAILER = "TRAILER!!!"
ALIGNMENT = 4


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    target: str


Content = Path | bytes | Link


def pack(files: Mapping[str, Content]) -> bytes:
    """An archive of these files, with the directories they need and /dev/console."""
    names = [PurePosixPath(name.lstrip("/")) for name in files]
    folders = sorted({str(parent) for name in names for parent in name.parents} - {"."} | {"dev"})
    archive = bytearray()
    for number, folder in enumerate(folders):
        archive += _member(number, folder, DIRECTORY, b"")
    archive += _member(len(folders), "dev/console", CONSOLE, b"", CONSOLE_NUMBER)
    for number, (name, content) in enumerate(sorted(files.items()), start=len(folders) + 1):
        archive += _member(number, name.lstrip("/"), _mode(content), _bytes(content))
    archive += _member(0, TRAILER, 0, b"")
    return bytes(archive)


def _mode(content: Content) -> int:
    return LINK if isinstance(content, Link) else PROGRAM


def _bytes(content: Content) -> bytes:
    if isinstance(content, Link):
        return content.target.encode()
    return content.read_bytes() if isinstance(content, Path) else content


def _member(
    number: int, name: str, mode: int, data: bytes, device: tuple[int, int] = (0, 0)
) -> bytes:
    encoded = name.encode() + b"\0"
    # inode, mode, user, group, links, time, size, device, node's device, name's length, checksum
    fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(encoded), 0]
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    return _padded(header + encoded) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % ALIGNMENT)
