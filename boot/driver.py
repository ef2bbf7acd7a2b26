# SPDX-License-Identifier: GPL-2.0-or-later
"""The driver's modules for a kernel of Debian's, built into the cache."""

import hashlib
import subprocess
import tempfile
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import ToolError
from kadence.base.stages import fingerprint
from kadence.boot import debian

HEADERS = Path("/usr/src")
DRIVER = "kadapt.ko"
SYMBOLS = "Module.symvers"  # what a build of modules exports


def modules(release: str) -> Path:
    """The folder with the modules and SYMBOLS for this kernel, built unless it is there."""
    sources = resources.home() / "kadapt"
    code = "".join(fingerprint(sources / part) for part in ("driver", "uapi"))
    key = hashlib.sha256(code.encode()).hexdigest()[:16]
    folder = resources.cache_directory() / "kadapt" / f"{release}-{key}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
            built = Path(temporary) / "modules"
            build(release, built)
            # Another process may have built the same.
            if not folder.exists():
                built.rename(folder)
    return folder


def build(release: str, folder: Path) -> None:
    """Build the modules for this kernel in a folder."""
    script = resources.home() / "kadapt/build-module"
    command = [str(script), str(_headers(release)), str(folder)]
    made = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if made.returncode or not (folder / DRIVER).exists():
        said = (made.stderr.strip() or made.stdout.strip()).splitlines() or ["no module was made"]
        reason = next((line for line in said if "error:" in line), said[-1])
        raise ToolError(f"the driver does not build for {release}: {reason}")


def _headers(release: str) -> Path:
    installed = HEADERS / f"linux-headers-{release}"
    return installed if installed.is_dir() else debian.kernel_headers(release)
