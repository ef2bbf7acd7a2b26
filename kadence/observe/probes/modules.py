# SPDX-License-Identifier: GPL-2.0-or-later
"""The driver's modules for a kernel of Debian's."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import ToolError
from kadence.boot import debian

# In the order in which they are loaded.
DRIVER = ("kadapt.ko",)  # which also marks phases for QEMU's plugin
PROBES = (*DRIVER, "kadapt_probe.ko")


def built(release: str, names: Sequence[str] = PROBES) -> list[Path]:
    """The modules, built if their sources are newer."""
    home = resources.home()
    headers = debian.kernel_headers(release)
    command = ["make", "-s", "kadapt-module", f"RELEASE={release}", f"KADAPT_HEADERS={headers}"]
    completed = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    modules = [home / "build/kadapt" / f"module-{release}" / name for name in names]
    if completed.returncode or not all(module.exists() for module in modules):
        raise ToolError(
            f"the driver does not build for {release}; `{' '.join(command)}` in {home} says why"
        )
    return modules
