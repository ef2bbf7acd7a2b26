# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts the code that a guest runs while a command runs in it."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from kadence import boot
from kadence.base.errors import GuestError
from kadence.lab import counts, session
from kadence.lab.counts import GEOMETRIES, Counted
from kadence.lab.guest import Guest


def count(
    guest: Guest,
    argv: Sequence[str],
    *,
    switch: int | None = None,
    modules: Sequence[Path] = (),
    stand_in: bool = False,
) -> Counted:
    """Count while the command runs, with these modules of the kernel.

    `switch` is as in counts.options(), and `stand_in` as in kadence.boot.
    """
    with tempfile.TemporaryDirectory(prefix="kadence-counts-") as name:
        folder = Path(name)
        reading = session.run(
            guest,
            argv,
            stand_in=stand_in,
            emulator_options=counts.options(folder, geometries=GEOMETRIES, switch=switch),
            modules=modules,
        )
        require_success(guest.name, argv, reading.result)
        return counts.read(folder)


def require_success(kernel: str, argv: Sequence[str], result: boot.Result) -> None:
    """Raise GuestError if the kernel complained or the command failed."""
    if complaints := boot.complaints(result.log):
        raise GuestError(f"kernel {kernel} logged a complaint: {complaints[0]}")
    if result.status:
        # A failing command takes other paths, so a layout for them would not serve it.
        raise GuestError(f"{argv[0]} ended with status {result.status}, so its counts are not used")
