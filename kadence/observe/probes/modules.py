# SPDX-License-Identifier: GPL-2.0-or-later
"""The driver's modules for a kernel of Debian's, in the order in which they are loaded."""

from collections.abc import Sequence
from pathlib import Path

from kadence.base.errors import ToolError
from kadence.boot import driver

DRIVER = (driver.DRIVER,)  # which also marks phases for QEMU's plugin
PROBES = (*DRIVER, "kadapt_probe.ko")


def built(release: str, names: Sequence[str] = PROBES) -> list[Path]:
    """The modules, built unless they are in the cache."""
    folder = driver.modules(release)
    missing = [name for name in names if not (folder / name).exists()]
    if missing:
        raise ToolError(f"there is no {missing[0]} for {release}; probes are written for 6.12")
    return [folder / name for name in names]
