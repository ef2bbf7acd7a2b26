# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures a kernel's boot, memory and kernel paths, and keeps the figures beside the kernel.

An x86_64 kernel is measured in the lab, whose clock counts instructions (docs/lab.md). User-Mode
Linux has no such clock: its boot is measured in seconds of this machine, its paths not at all.
"""

import os
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kadence import boot
from kadence.base import artefact, codec, resources
from kadence.base.errors import GuestError
from kadence.kconfig.store.store import Kernel
from kadence.lab import Guest, figures, take
from kadence.lab.guest import X86_64

FILE = "figures.json"
BOOTS = 5
MEMORY_BYTES = 1 << 30
MEMORY = ("memory_used", "memory_not_free")
BOOT, BOOT_IN_LAB = "boot_seconds", "boot_virtual_seconds"


@dataclass(frozen=True)
class KernelFigures:
    """Figures by name, and how they were measured."""

    setting: str
    values: dict[str, float]  # boots in seconds, memory in bytes, operations in instructions


def recall(kernel: Kernel) -> KernelFigures | None:
    """The figures that were measured before; None if there are none."""
    path = kernel.path / FILE
    if not path.exists():
        return None
    return artefact.load(KernelFigures, path, artefact.FIGURES, "measure the kernel anew")


def measure(kernel: Kernel) -> KernelFigures:
    """Boot the kernel, measure it, and keep the figures beside it."""
    found = _in_lab(kernel) if kernel.target == X86_64 else _here(kernel)
    body = {"id": kernel.id} | codec.encode(found)
    command = ["kadence", "kernel", "diff", "--measure", kernel.id, kernel.id]
    artefact.write(kernel.path / FILE, artefact.FIGURES, None, command, body)
    return found


def _in_lab(kernel: Kernel) -> KernelFigures:
    sheet = take(Guest(f"{kernel.kind} {kernel.id}", kernel.image))
    values = {BOOT_IN_LAB: sheet.settled.boot_ns / 1e9}
    values |= {
        name: figure.median for name, figure in sheet.figures.items() if figure.median is not None
    }
    return KernelFigures(sheet.setting(), values)


def _here(kernel: Kernel) -> KernelFigures:
    setting = f"{MEMORY_BYTES >> 20} MiB, one processor, this machine's clock, {BOOTS} boots"
    return KernelFigures(setting, {BOOT: boot_seconds(kernel), **memory(kernel)})


def boot_seconds(kernel: Kernel) -> float:
    """Median time of BOOTS boots to the first program, by this machine's clock."""
    return statistics.median(_run(kernel, ["true"])[0].boot_seconds for _ in range(BOOTS))


def memory(kernel: Kernel) -> dict[str, float]:
    """Bytes in use when the first program starts, counted in two ways."""
    program = str(resources.built("bench/lab/lab"))
    _, text = _run(kernel, [program, "-m", str(MEMORY_BYTES), *MEMORY])
    _, found = figures.read(text)
    return {name: figure.median or 0.0 for name, figure in found.items()}


def _run(kernel: Kernel, argv: list[str]) -> tuple[boot.Result, str]:
    with tempfile.TemporaryFile() as output, Path(os.devnull).open("rb") as nothing:
        result = boot.run(
            boot.Request(
                image=kernel.image,
                argv=argv,
                target=kernel.target,
                memory_bytes=MEMORY_BYTES,
                stdin=nothing.fileno(),
                stdout=output.fileno(),
            )
        )
        if result.status:
            raise GuestError(f"{argv[0]} ended with status {result.status} on kernel {kernel.id}")
        output.seek(0)
        return result, output.read().decode(errors="replace")
