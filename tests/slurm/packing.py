# SPDX-License-Identifier: GPL-2.0-or-later
"""Small bundles, made without profiling and kernel builds, and archives that are not bundles."""

import hashlib
import io
import json
import subprocess
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

from kadence.slurm import bundle, keys
from kadence.slurm.bundle import BuiltProgram, Configuration, Contents, Kernel

SOURCE = '#include <stdio.h>\nint main(void) {{ puts("{said}"); return 0; }}\n'


def compiled(path: Path, said: str, *options: str) -> Path:
    """Compile a program that prints a word and has its own build-id."""
    path.parent.mkdir(parents=True, exist_ok=True)
    words = ["gcc-12", "-x", "c", "-O1", "-Wl,--build-id", *options, "-o", str(path), "-"]
    subprocess.run(words, input=SOURCE.format(said=said), text=True, check=True)
    return path


def noted_build_id(path: Path) -> str:
    """A program's build-id, as binutils reads it."""
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True)
    return notes.stdout.partition("Build ID: ")[2].split()[0]


@dataclass(frozen=True)
class Workshop:
    """Two builds of a program, a file in place of a kernel, a plan and a key."""

    place: Path

    @property
    def key(self) -> Path:
        return self.place / "key"

    @property
    def public(self) -> Path:
        return self.place / "key.pub"

    @property
    def plain(self) -> Path:
        return self.place / "plain/toy"

    @property
    def adapted(self) -> Path:
        return self.place / "adapted/toy"

    @staticmethod
    def make(place: Path) -> "Workshop":
        """Make a workshop with all its files."""
        workshop = Workshop(place)
        compiled(workshop.plain, "plain")
        compiled(workshop.adapted, "adapted")
        keys.make(workshop.key)
        (place / "plan").write_text('{"schema": "kadence.plan"}\n')
        (place / "image").write_bytes(b"kernel" * 1000)
        return workshop

    def contents(self, **fields: Any) -> Contents:
        """The contents of a bundle of the program."""
        usual: dict[str, Any] = {
            "name": "toy",
            "programs": [BuiltProgram(self.adapted, (noted_build_id(self.plain),))],
            "plan": self.place / "plan",
            "kernels": {"um": Kernel(self.place / "image", "0123456789abcdef", "6.12.1-toy")},
            "configurations": {"um": Configuration(b"{}\n", "0123456789abcdef")},
            "command": ["kadence", "bundle", "toy"],
        }
        return Contents(**(usual | fields))

    def written(self, name: str = "toy.kbundle", signed: bool = True, **fields: Any) -> Path:
        """Write a bundle of the program."""
        path = self.place / name
        key = keys.load_private(self.key) if signed else None
        bundle.write(path, self.contents(**fields), key)
        return path


@dataclass
class Entry:
    """A member of an archive, which may be one that no valid archive has."""

    path: str
    content: bytes = b""
    kind: bytes = tarfile.REGTYPE
    mode: int = 0o644
    link: str = ""


def entries_of(path: Path) -> list[Entry]:
    """The members of a bundle, as tarfile reads them."""
    with path.open("rb") as file:
        plain = zstandard.ZstdDecompressor().stream_reader(file).read()
    with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
        found = [(header, tar.extractfile(header)) for header in tar]
        return [
            Entry(header.name, file.read() if file else b"", mode=header.mode)
            for header, file in found
        ]


def packed(entries: Sequence[Entry]) -> bytes:
    """An archive of these entries, valid or not."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for entry in entries:
            header = tarfile.TarInfo(entry.path)
            header.type, header.mode, header.linkname = entry.kind, entry.mode, entry.link
            header.size = len(entry.content)
            tar.addfile(header, io.BytesIO(entry.content))
    return zstandard.ZstdCompressor(write_checksum=True).compress(made.getvalue())


def described(entries: Sequence[Entry], key: Path, **changes: Any) -> list[Entry]:
    """The entries with a newly signed manifest that lists them, with `changes` to its members."""
    manifest = json.loads(entries[0].content)
    manifest["files"] = [
        {
            "path": entry.path,
            "bytes": len(entry.content),
            "sha256": hashlib.sha256(entry.content).hexdigest(),
            "executable": entry.mode == 0o755,
        }
        for entry in entries[2:]
    ]
    text = json.dumps(manifest | changes).encode()
    signature = keys.sign(keys.load_private(key), text)
    return [Entry("manifest.json", text), Entry("manifest.sig", signature), *entries[2:]]
