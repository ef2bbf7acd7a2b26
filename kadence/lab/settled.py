# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the report of settle.c on a guest: how long the boot took, and when the guest settled."""

from collections.abc import Iterable
from dataclasses import dataclass

from kadence.base.errors import GuestError


@dataclass(frozen=True)
class Settled:
    """The report of settle. Times are of the guest's clock, in nanoseconds."""

    boot_ns: int  # from the kernel's start to the first program
    settle_ns: int  # from there to the command's start
    processor_ns: int  # processor time that settle itself used
    windows: int  # number of windows that settle timed
    settled: bool
    file_system: str  # of the command's directory


def read(lines: Iterable[str]) -> Settled:
    """Parse the report's lines: a key, a space, a value."""
    fields = dict(line.partition(" ")[::2] for line in lines)
    try:
        began = int(fields["started_ns"])
        return Settled(
            boot_ns=began,
            settle_ns=int(fields["finished_ns"]) - began,
            processor_ns=int(fields["processor_ns"]),
            windows=int(fields["windows"]),
            settled=fields["settled"] == "1",
            file_system=fields["file_system"],
        )
    except (KeyError, ValueError) as error:
        raise GuestError(f"the guest did not say how it settled ({error!r})") from error
