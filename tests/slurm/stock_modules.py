# SPDX-License-Identifier: GPL-2.0-or-later
"""What Debian's kernel has to load before it reaches a node's files: its own modules, in order."""

import lzma
import re
from pathlib import Path

from kadence.boot import debian

# The host's files, the node's disk with what its checksums need, and the network.
WANTED = ("9pnet_virtio", "9p", "overlay", "virtio_blk", "crc32c_generic", "ext4", "virtio_net")
DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")


def stock_modules(release: str) -> dict[str, bytes]:
    """Files for an initial RAM file system, by names in whose order they are to be loaded."""
    found = {
        path.name.partition(".")[0].replace("-", "_"): path
        for path in debian.kernel_modules(release).rglob("*.ko*")
    }
    contents: dict[str, bytes] = {}
    for name in WANTED:
        _add(name, found, contents)
    return {
        f"modules/{number:02}-{name}.ko": content
        for number, (name, content) in enumerate(contents.items())
    }


def _add(name: str, found: dict[str, Path], contents: dict[str, bytes]) -> None:
    """A module after what it depends on; what is not there is built in."""
    if name in contents or name not in found:
        return
    content = _read(found[name])
    depends = DEPENDS.search(content)
    for needed in depends[1].decode().split(",") if depends else []:
        _add(needed.replace("-", "_"), found, contents)
    contents[name] = content


def _read(path: Path) -> bytes:
    content = path.read_bytes()
    return lzma.decompress(content) if path.suffix == ".xz" else content
