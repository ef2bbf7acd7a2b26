# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel store: one folder per kernel, named by its ID, complete or absent."""

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence.base import artefact, resources
from kadence.base.errors import ArtefactError, BuildError, KadenceError
from kadence.kconfig.request import targets
from kadence.kconfig.request.request import NAMED, TAILORED, BuildRequest
from kadence.kconfig.request.series import DEFAULT

IMAGE = "image"
VMLINUX = "vmlinux"  # with debug information; only for traced kernels
POINTS = "points"  # where probes can call; only for kernels with points
FUNCTIONS = "functions"  # names by address; only of kernels for whole machines
SECTIONS = "sections"  # what its code was linked from; only for kernels that are laid out
CONFIG = "config"
FRAGMENT = "fragment"
MANIFEST = "manifest.json"
LOG = "build.log"


@dataclass(frozen=True)
class Kernel:
    """A kernel of the store."""

    id: str
    path: Path
    manifest: dict[str, Any]

    @property
    def image(self) -> Path:
        return self.path / IMAGE

    @property
    def vmlinux(self) -> Path:
        return self.path / VMLINUX

    @property
    def points(self) -> Path:
        return self.path / POINTS

    @property
    def functions(self) -> Path:
        return self.path / FUNCTIONS

    @property
    def sections(self) -> Path:
        return self.path / SECTIONS

    @property
    def log(self) -> Path:
        return self.path / LOG

    @property
    def target(self) -> str:
        return str(self.manifest["target"])

    @property
    def config(self) -> Path:
        return self.path / CONFIG

    @property
    def kind(self) -> str:
        return str(self.manifest["kind"])


def folder() -> Path:
    """The folder of the store."""
    return resources.cache_directory() / "kernels"


def path_of(identifier: str) -> Path:
    """The folder of a kernel; it exists only when the kernel is complete."""
    return folder() / identifier


def identifiers() -> list[str]:
    """IDs of all kernels, the last built first."""
    found = [path.parent for path in folder().glob(f"[!.]*/{MANIFEST}")]
    return [path.name for path in sorted(found, key=_built_last)]


def _built_last(path: Path) -> tuple[float, str]:
    return (-(path / MANIFEST).stat().st_mtime, path.name)


def digest(image: Path) -> str:
    """SHA-256 of an image."""
    with image.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def load(identifier: str) -> Kernel:
    """Load a kernel; raise ArtefactError if its image is not the one that was built."""
    path = path_of(identifier)
    manifest = artefact.read(path / MANIFEST, artefact.KERNEL)
    kernel = Kernel(identifier, path, manifest)
    damaged = _damaged(kernel)
    if damaged is not None:
        raise ArtefactError(
            f"the {damaged.name} of kernel {identifier} is not the one that was built ({damaged}); "
            f"build it anew with: {_words(manifest)}"
        )
    return kernel


def _damaged(kernel: Kernel) -> Path | None:
    """A file that differs from the build. Of vmlinux (hundreds of MB) only the size is compared."""
    try:
        if digest(kernel.image) != kernel.manifest.get("image_sha256"):
            return kernel.image
    except OSError:
        return kernel.image
    expected = kernel.manifest.get("vmlinux_bytes")
    there = kernel.vmlinux.stat().st_size if kernel.vmlinux.is_file() else None
    return kernel.vmlinux if expected is not None and there != expected else None


def _words(manifest: dict[str, Any]) -> str:
    return " ".join(str(word) for word in manifest.get("command", []))


def is_whole(identifier: str) -> bool:
    """Whether the store has this kernel, undamaged."""
    try:
        load(identifier)
    except KadenceError:
        return False
    return True


def remove(identifier: str) -> None:
    """Remove a kernel. It is renamed first, so that no process sees an incomplete kernel."""
    path = path_of(identifier)
    if path.exists():
        doomed = path.with_name(f".old-{identifier}")
        shutil.rmtree(doomed, ignore_errors=True)
        path.rename(doomed)
        shutil.rmtree(doomed)


def find(
    reference: str,
    plan: Path | None = None,
    target: str = targets.DEFAULT,
    trace: Path | None = None,
    series: str = DEFAULT,
    units: tuple[Path, ...] = (),
) -> Kernel:
    """Find the kernel for a reference: a kind's name, an ID or the start of one.

    `tailored` means the kernel for that plan and trace; without a plan, the tailored kernel that
    was built last.
    """
    if reference in NAMED:
        return _of_request(BuildRequest(kind=reference, target=target, series=series, units=units))
    if reference == TAILORED and plan is not None:
        return _of_request(
            BuildRequest(
                kind=TAILORED, plan=plan, trace=trace, target=target, series=series, units=units
            )
        )
    if reference == TAILORED:
        return _newest_tailored(target)
    return _by_prefix(reference)


def _of_request(request: BuildRequest) -> Kernel:
    # Imported here, because only these references need the rules, the source and the compiler.
    from kadence.kconfig.configuration import identity

    identifier = identity.gather(request).id
    if not path_of(identifier).exists():
        whose = f" for {request.plan}" if request.plan else ""
        command = " ".join(request.command())
        raise BuildError(f"the {request.kind} kernel{whose} is not built; build it with: {command}")
    return load(identifier)


def _newest_tailored(target: str) -> Kernel:
    for identifier in identifiers():
        kernel = load(identifier)
        if kernel.kind == TAILORED and kernel.target == target:
            return kernel
    raise BuildError(
        f"no tailored kernel for {target} is built; build one with: "
        f"kadence kernel build --plan P.plan.json --target {target}"
    )


def _by_prefix(reference: str) -> Kernel:
    matches = [found for found in identifiers() if reference and found.startswith(reference)]
    if len(matches) > 1:
        raise BuildError(f"{reference!r} is the start of {len(matches)} IDs; write more of it")
    if not matches:
        raise BuildError(
            f"no kernel {reference!r} in {folder()}; `kadence kernel list` shows what there is, "
            "`kadence kernel build` builds one"
        )
    return load(matches[0])
