# SPDX-License-Identifier: GPL-2.0-or-later
"""The places where a guest, or this machine, runs the two builds of the lab's program."""

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from kadence import boot
from kadence.base import resources
from kadence.base.errors import GuestError
from kadence.kconfig.store.store import Kernel
from kadence.lab import Figure, Guest, figures, take

Found = dict[str, Figure]
# The program as bench/lab/lab.mk builds it: plain and adapted.
PLAIN, ADAPTED = "lab-dynamic", "lab-adapted"
# Both are linked dynamically to these.
LIBRARIES = (Path("/lib64/ld-linux-x86-64.so.2"), Path("/lib/x86_64-linux-gnu/libc.so.6"))
# Room for a round's records and the file system's own blocks.
DISK_BYTES = 24 << 20
WALL_ROUNDS = 11


class Place(Protocol):
    """Something that runs the lab's program."""

    name: str
    unit: str

    def measure(self, program: str, operations: Sequence[str]) -> Found:
        """Returns figures of these operations, from one build of the program."""


@dataclass(frozen=True)
class Lab:
    """A bare x86_64 guest whose clock counts instructions."""

    guest: Guest
    disk: Path
    unit: str = "instructions"

    @property
    def name(self) -> str:
        return f"the lab, {self.guest.name}"

    def measure(self, program: str, operations: Sequence[str]) -> Found:
        beside: Mapping[str, Path] = {str(path): path for path in LIBRARIES}
        beside = {**beside, "disk.ext4": self.disk}
        sheet = take(self.guest, operations, program=f"bench/lab/{program}", beside=beside)
        return sheet.figures


@dataclass(frozen=True)
class UserMode:
    """User-Mode Linux on this machine. A system call takes tens of microseconds."""

    kernel: Kernel
    unit: str = "ns"

    @property
    def name(self) -> str:
        return f"User-Mode Linux {self.kernel.id}"

    def measure(self, program: str, operations: Sequence[str]) -> Found:
        words = [str(resources.built(f"bench/lab/{program}")), "-r", str(WALL_ROUNDS)]
        with tempfile.TemporaryFile() as output:
            request = boot.Request(
                image=self.kernel.image,
                argv=[*words, *operations],
                stdout=output.fileno(),
                hang_timeout_seconds=600.0,
            )
            result = boot.run(request)
            output.seek(0)
            text = output.read().decode()
        if found := boot.complaints(result.log):
            raise GuestError(f"{self.name} complained while it was measured: {found[0]}")
        return figures.read(text)[1]


@dataclass(frozen=True)
class Machine:
    """This machine's own kernel. It has no device: shows what adapting gains without the device."""

    name: str = "this machine's own kernel"
    unit: str = "ns"

    def measure(self, program: str, operations: Sequence[str]) -> Found:
        words = [str(resources.built(f"bench/lab/{program}")), "-r", str(WALL_ROUNDS)]
        done = subprocess.run([*words, *operations], capture_output=True, text=True, check=True)
        return figures.read(done.stdout)[1]


def make_disk(place: Path) -> Path:
    """Make an empty ext4 file system in a file."""
    with place.open("wb") as disk:
        disk.truncate(DISK_BYTES)
    subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", str(place)], check=True)
    return place
