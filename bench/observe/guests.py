# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's kernel with the driver, and what the bench puts into its guests."""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kadence import boot
from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.boot import debian, initramfs, qemu
from kadence.lab import calls
from kadence.observe.probes import guest, instruments, modules
from kadence.observe.probes.instruments import Instrument, Kind

SERIES = "6.12"
MEMORY_MIB = 1024
ARGUMENTS = ("quiet", calls.KERNEL_ARGUMENT)
COMPARED = Path(__file__).resolve().parents[1] / "live/probes.c"
LOADED = "insmod /kadapt.ko || exit 91\ninsmod /kadapt_probe.ko || exit 92\n"


@dataclass(frozen=True)
class Bench:
    """A release of Debian's kernel, and all files of guests."""

    release: str
    files: dict[str, initramfs.Content]

    def run(
        self,
        script: str,
        files: dict[str, bytes] | None = None,
        options: Sequence[str] = (),
        arguments: Sequence[str] = (),
    ) -> str:
        """The console of a guest that ran the script with the driver loaded."""
        machine = qemu.Machine(
            debian.kernel_image(self.release),
            MEMORY_MIB,
            options=options,
            kernel_arguments=[*ARGUMENTS, *arguments],
            timeout_seconds=3600,
        )
        outcome = qemu.run_script(machine, LOADED + script, {**self.files, **(files or {})})
        if outcome.status or boot.complaints(outcome.console):
            raise KadenceError(f"the guest failed ({outcome.status}):\n{outcome.console}")
        return outcome.console

    def chosen(self, *patterns: str) -> list[Instrument]:
        """The instruments of the functions that match."""
        return instruments.choose(guest.kernel_of(self.release), patterns)

    def first(self, name: str, kind: Kind, more: int = 0) -> bytes:
        """The list that instruments a system call in this way, and so many others."""
        others = [each for each in self.chosen("__x64_sys_*") if each.function != name][:more]
        chosen = [replace(each, kind=kind) for each in (*self.chosen(name), *others)]
        return instruments.listed(chosen).encode()


def prepare(folder: Path) -> Bench:
    """Build what the guests need."""
    release = debian.newest_release(SERIES)
    built = resources.home() / "build"
    files: dict[str, initramfs.Content] = {
        "probe": built / "kadence/probe",
        "probes.ko": _compared(release, folder),
    }
    files |= {name: built / "bench/observe" / name for name in ("writes", "proxy", "phases")}
    files |= {path.name: path for path in modules.built(release)}
    return Bench(release, files)


def _compared(release: str, folder: Path) -> Path:
    """The kernel's own probes, which do nothing."""
    shutil.copy(COMPARED, folder)
    (folder / "Kbuild").write_text("obj-m := probes.o\n")
    headers = debian.kernel_headers(release)
    subprocess.run(["make", "-s", "-C", headers, f"M={folder}", "modules"], check=True)
    return folder / "probes.ko"
