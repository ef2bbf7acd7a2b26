# SPDX-License-Identifier: GPL-2.0-or-later
"""The symbols and types of a kernel of Debian's.

The kernel is booted once, and what it says of itself is kept.
"""

import base64
import os
import tempfile
from pathlib import Path

from kadence.base import resources, terminal
from kadence.base.errors import GuestError, UsageError
from kadence.boot import Request, debian
from kadence.boot.session import run
from kadence.kadapt.live.btf import Types
from kadence.kadapt.live.symbols import KALLSYMS, TRACED, Symbols

SEPARATOR = "=====\n"
TYPES = "/sys/kernel/btf/vmlinux"
SCRIPT = f"""set -e
mount -t tracefs tracefs /sys/kernel/tracing
cat {KALLSYMS}
echo =====
cat {TRACED}
echo =====
base64 {TYPES}
"""
BOOT_TIMEOUT_SECONDS = 600.0


def symbols_of(release: str) -> Symbols:
    """The symbols of this release."""
    kallsyms, traced, _ = _told(release)
    return Symbols(kallsyms.splitlines(), traced.splitlines())


def kallsyms_of(release: str) -> list[str]:
    """The lines of /proc/kallsyms of this release, at the addresses without randomisation."""
    kallsyms, *_ = _told(release)
    return kallsyms.splitlines()


def types_of(release: str) -> Types:
    """The types of this release's functions."""
    *_, types = _told(release)
    return Types(base64.b64decode(types))


def _told(release: str) -> list[str]:
    """The parts of what the kernel said, from the cache or from the booted kernel."""
    kept = resources.cache_directory() / "debian" / f"symbols-and-types-{release}"
    if not kept.exists():
        _require_root(release)
        terminal.tell(f"live: booting {release} once for its symbols …")
        _keep(release, kept)
    return kept.read_text(encoding="ascii").split(SEPARATOR)


def _require_root(release: str) -> None:
    """A guest's command has the rights of the user who starts the guest."""
    if os.geteuid() != 0:
        raise UsageError(
            f"only root in a guest sees the symbols of {release}; run this once as root, with your "
            "KADENCE_CACHE"
        )


def _keep(release: str, kept: Path) -> None:
    image = debian.kernel_image(release)
    with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as aside:
        try:
            _ask(image, aside.fileno())
            Path(aside.name).replace(kept)
        finally:
            Path(aside.name).unlink(missing_ok=True)


def _ask(image: Path, output: int) -> None:
    result = run(
        Request(
            image=image,
            argv=["/bin/sh", "-c", SCRIPT],
            target="x86_64",
            directory=Path("/"),
            stdout=output,
            boot_timeout_seconds=BOOT_TIMEOUT_SECONDS,
        )
    )
    if result.status:
        raise GuestError(
            f"{image} does not say what it can trace (status {result.status}); units need a kernel "
            "with CONFIG_KALLSYMS, CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS and "
            "CONFIG_DEBUG_INFO_BTF"
        )
