# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's own kernels, to boot under QEMU: fetched into the cache, never installed."""

import subprocess
import tempfile
from pathlib import Path

from kadence import resources
from kadence.errors import ToolError

HEADERS = Path("/usr/src")
CLOUD = "-cloud-amd64"


def releases_with_headers(series: str) -> list[str]:
    """Releases of this series' cloud kernels whose headers are installed."""
    prefix = f"linux-headers-{series}."
    folders = HEADERS.glob(f"{prefix}*{CLOUD}")
    return sorted(folder.name.removeprefix("linux-headers-") for folder in folders)


def kernel_image(release: str) -> Path:
    """The image of this release, fetched from the machine's own package source if need be."""
    folder = resources.cache_directory() / "debian" / release
    image = folder / "boot" / f"vmlinuz-{release}"
    if not image.exists():
        _fetch(f"linux-image-{release}", folder)
    if not image.exists():
        raise ToolError(f"package linux-image-{release} holds no {image.name}; try another release")
    return image


def _fetch(package: str, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        # apt's own user must be able to write here, or it complains and goes on as root.
        _run(["apt-get", "download", "-q", package], Path(temporary))
        packages = sorted(Path(temporary).glob("*.deb"))
        if len(packages) != 1:
            raise ToolError(f"apt-get found no package {package}; run `apt-get update`")
        unpacked = Path(temporary) / "unpacked"
        _run(["dpkg-deb", "-x", str(packages[0]), str(unpacked)], Path(temporary))
        if not folder.exists():
            unpacked.rename(folder)


def _run(command: list[str], directory: Path) -> None:
    try:
        completed = subprocess.run(
            command, cwd=directory, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise ToolError(f"cannot run {command[0]}: {error.strerror}; install it") from error
    if completed.returncode:
        said = (completed.stderr.strip() or completed.stdout.strip()).splitlines()
        reason = said[-1] if said else f"status {completed.returncode}"
        raise ToolError(f"`{' '.join(command)}` failed: {reason}")
