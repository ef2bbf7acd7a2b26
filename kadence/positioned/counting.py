# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts the code of a kernel of Debian's while a command runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence.base.terminal import tell
from kadence.boot import debian
from kadence.kernel.footprint import Functions
from kadence.lab import counted
from kadence.lab.counts import Counted
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
    guest = Guest(f"Debian {release}", debian.kernel_image(release))
    return counted.count(guest, argv, modules=modules, stand_in=stand_in)
