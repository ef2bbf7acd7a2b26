# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of `kadence lab` on a run: for a person, and for a file."""

from typing import Any

from kadence.lab.session import Reading
from kadence.measurement.measure import KERNEL_NAMES, MACHINE

# A gain in the lab is a gain in a guest's instructions. This line tells the reader that the lab
# measured no gain over the machine's own kernel, and how to measure one.
ON_MACHINE = (
    f"{KERNEL_NAMES[MACHINE]}: not measured, nothing counts instructions there; "
    "`kadence specialize` compares with it by time"
)
MEBIBYTE = 1 << 20


def lines(reading: Reading) -> list[str]:
    """Returns the report for a person, without the command's own output."""
    found, used = reading.settled, reading.result
    quiet = f"quiet after {found.settle_ns / 1e9:.2f} more ({found.windows} windows)"
    if not found.settled:
        quiet = f"never quiet in {found.settle_ns / 1e9:.0f} more: the figures mean little"
    return [
        f"kadence: lab: {reading.guest.name}, {reading.setting()}",
        f"kadence: lab: {found.boot_ns / 1e9:.3f} virtual s to the first program, {quiet}",
        f"kadence: lab: {reading.processor_ns:,} instructions of the command and its children; "
        f"{reading.elapsed_ns:,} virtual ns from start to end, waiting included",
        f"kadence: lab: {used.minor_faults:,} minor and {used.major_faults:,} major page faults; "
        f"{used.max_resident_bytes / MEBIBYTE:,.1f} MiB resident at most",
        f"kadence: lab: {ON_MACHINE}",
    ]


def document(reading: Reading) -> dict[str, Any]:
    """Returns the report for a file of schema kadence.lab."""
    return {
        "kernel": reading.guest.name,
        "flags": list(reading.flags),
        "file_system": reading.settled.file_system,
        "guest_bytes": reading.guest.memory_bytes,
        "boot_ns": reading.settled.boot_ns,
        "settle_ns": reading.settled.settle_ns,
        "settled": reading.settled.settled,
        "instructions": reading.processor_ns,
        "elapsed_ns": reading.elapsed_ns,
        "minor_faults": reading.result.minor_faults,
        "major_faults": reading.result.major_faults,
        "max_resident_bytes": reading.result.max_resident_bytes,
        "status": reading.result.status,
        "machine": None,  # nothing counts instructions on this machine's own kernel
    }
