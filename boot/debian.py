# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's or Ubuntu's own kernels and their headers: fetched into the cache, never installed.

Installing the headers of the 6.12 series would install its kernel, too, because the package
depends on it. Kadence must not change a machine's own kernel.
"""

import contextlib
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import ToolError

# Packages that depend on the headers of the newest release: of a series that came later, and of the
# series with which a release of Debian came.
FLAVOURS = ("-cloud-amd64", "-generic")  # Debian's, Ubuntu's
NEWEST = ("linux-headers-{series}-cloud-amd64", "linux-headers-cloud-amd64")


def newest_release(series: str) -> str:
    """The newest release of this series that the machine's package sources offer."""
    for name in NEWEST:
        with contextlib.suppress(ToolError):
            for package in _dependencies(name.format(series=series)):
                if package.startswith(f"linux-headers-{series}."):
                    return package.removeprefix("linux-headers-")
    if found := _releases(series):
        return found[-1]
    raise ToolError(f"no package source has Debian's Linux {series}; run `apt-get update`")


def _releases(series: str) -> list[str]:
    """The releases of a series on which no other package depends, as in backports; newest last."""
    names = _run(["apt-cache", "pkgnames", f"linux-headers-{series}."], Path.cwd()).split()
    found = [name.removeprefix("linux-headers-") for name in names if name.endswith(FLAVOURS)]
    return sorted(found, key=lambda name: [int(part) for part in re.findall(r"\d+", name)])


def kernel_image(release: str) -> Path:
    """The image of this release, fetched from the machine's package source if it is missing."""
    return _from_image_package(
        release, f"boot/vmlinuz-{release}", f"usr/lib/modules/{release}/vmlinuz"
    )


def kernel_modules(release: str) -> Path:
    """The folder lib/modules/RELEASE of this release, fetched with its image if it is missing."""
    return _from_image_package(release, f"lib/modules/{release}", f"usr/lib/modules/{release}")


def _from_image_package(release: str, before_7_3: str, since_7_3: str) -> Path:
    folder = resources.cache_directory() / "debian" / release
    places = [folder / before_7_3, folder / since_7_3]
    if not any(place.exists() for place in places):
        package = f"linux-image-{release}"
        # Since 7.3 the package only depends on those that have the files.
        parts = [f"{part}-{release}" for part in ("linux-binary", "linux-modules")]
        _fetch([package, *(name for name in _dependencies(package) if name in parts)], folder)
    for place in places:
        if place.exists():
            return place
    raise ToolError(f"package linux-image-{release} holds no {before_7_3}; try another release")


def kernel_headers(release: str) -> Path:
    """A folder to build modules of this release against, fetched if it is missing."""
    package = f"linux-headers-{release}"
    folder = resources.cache_directory() / "debian" / f"headers-{release}"
    headers = folder / "usr/src" / package
    if not headers.exists():
        parts = [name for name in _dependencies(package) if _is_part_of_headers(name)]
        _fetch([package, *parts], folder)
    # The only absolute paths in the headers: of the common part, and since 7.3 of the headers.
    makefile = headers / "Makefile"
    here = rf"\g<1>{folder}"
    makefile.write_text(re.sub(r"(include |KBUILD_OUTPUT=).*(?=/usr/src/)", here, _text(makefile)))
    return headers


def _is_part_of_headers(package: str) -> bool:
    if package.startswith("linux-kbuild-") or package.endswith("-common"):
        return True
    # Ubuntu's common part has the release's name without the flavour.
    return re.fullmatch(r"linux-headers-[\d.]+-\d+", package) is not None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ToolError(f"cannot read {path}: {error.strerror}; remove its folder") from error


def _dependencies(package: str) -> list[str]:
    try:
        listed = _run(["apt-cache", "depends", "--important", package], Path.cwd())
    except ToolError as error:
        raise ToolError(
            f"Debian has no package {package}; name a release as `uname -r` prints it, or run "
            "`apt-get update`"
        ) from error
    return re.findall(r"^[ |]*Depends: (\S+)$", listed, re.MULTILINE)


def _fetch(packages: Sequence[str], folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        _run(["apt-get", "download", "-q", *packages], Path(temporary))
        fetched = sorted(Path(temporary).glob("*.deb"))
        if len(fetched) != len(packages):
            raise ToolError(f"apt-get lacks some of {', '.join(packages)}; run `apt-get update`")
        unpacked = Path(temporary) / "unpacked"
        for package in fetched:
            _run(["dpkg-deb", "-x", str(package), str(unpacked)], Path(temporary))
        if not folder.exists():
            unpacked.rename(folder)


def _run(command: list[str], directory: Path) -> str:
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
    return completed.stdout
