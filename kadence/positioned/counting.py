# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts the code of a kernel of Debian's while a command runs."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence import boot
from kadence.base.errors import GuestError
from kadence.base.stages import tell
from kadence.boot import debian
from kadence.kernel.footprint import Functions
from kadence.lab import counts as lab_counts
from kadence.lab import session
from kadence.lab.counts import GEOMETRIES, Counted
from kadence.lab.guest import Guest
from kadence.live.kernel import kallsyms_of, symbols_of
from kadence.positioned.image import Image


@dataclass(frozen=True)
class Kernel:
    """A kernel of Debian's, as it was linked and as it runs."""

    release: str
    image: Image
    traced: frozenset[int]

    def functions(self) -> Functions:
        """Its functions, by address."""
        pairs = self.image.symbols.functions.items()
        return Functions(f"{address:x} {name}" for address, name in pairs)


def kernel_of(release: str) -> Kernel:
    """Debian's kernel of this release."""
    image = Image.of(debian.kernel_image(release), kallsyms_of(release))
    return Kernel(release, image, symbols_of(release).traced)


def count(
    release: str, argv: Sequence[str], modules: Sequence[Path] = (), *, stand_in: bool = False
) -> Counted:
    """Count while the command runs with these modules. `stand_in` is as in kadence.boot."""
    tell(f"counting the code of {release} …")
    with tempfile.TemporaryDirectory(prefix="kadence-counts-") as name:
        folder = Path(name)
        reading = session.run(
            Guest(f"Debian {release}", debian.kernel_image(release)),
            argv,
            stand_in=stand_in,
            emulator_options=lab_counts.options(folder, geometries=GEOMETRIES),
            modules=modules,
        )
        _require_success(release, argv, reading.result)
        return lab_counts.read(folder)


def _require_success(release: str, argv: Sequence[str], result: boot.Result) -> None:
    if complaints := boot.complaints(result.log):
        raise GuestError(f"kernel {release} logged a complaint: {complaints[0]}")
    if result.status:
        # A failing command takes other paths, so a layout for them would not serve it.
        raise GuestError(f"{argv[0]} ended with status {result.status}, so its counts are not used")
