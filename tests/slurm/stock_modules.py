# SPDX-License-Identifier: GPL-2.0-or-later
"""The modules that Debian's kernel must load before it can reach a node's files, in order."""

import lzma
import re
from pathlib import Path

from kadence.boot import debian

# For the host's files, for the node's disk and its checksums, and for the network.
WANTED = ("9pnet_virtio", "9p", "overlay", "virtio_blk", "crc32c_generic", "ext4", "virtio_net")
DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")


def stock_modules(release: str) -> dict[str, bytes]:
    """Files for an initial RAM file system; their names are in the order of loading."""
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
    """Add a module after those that it depends on; a module without a file is built in."""
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
