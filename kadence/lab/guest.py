# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel that a lab run boots, and the size of the guest's memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence.base.errors import UsageError
from kadence.boot import debian

X86_64 = "x86_64"
STOCK = "debian"
STOCK_SERIES = "6.12"
# The same for every kernel: figures depend on it, most of all the memory used after boot.
MEMORY_BYTES = 1 << 30


@dataclass(frozen=True)
class Guest:
    """A kernel to measure, and the memory of the guest that runs it."""

    name: str  # in tables and reports
    image: Path
    memory_bytes: int = MEMORY_BYTES

    def setting(self, file_system: str, flags: Sequence[str]) -> str:
        """Returns the setting that every figure must be quoted with."""
        memory = self.memory_bytes >> 20
        return f"{memory} MiB, one processor, files on {file_system}; {' '.join(flags)}"


def stock(series: str = STOCK_SERIES, memory_bytes: int = MEMORY_BYTES) -> Guest:
    """Returns a guest with Debian's own cloud kernel."""
    release = debian.newest_release(series)
    return Guest(f"Debian {release}", debian.kernel_image(release), memory_bytes)


def find(
    reference: str,
    plan: Path | None = None,
    trace: Path | None = None,
    memory_bytes: int = MEMORY_BYTES,
) -> Guest:
    """Returns the guest that `--kernel` names: `debian`, a path, or a kernel of the store."""
    if reference == STOCK:
        return stock(memory_bytes=memory_bytes)
    if "/" in reference:
        return Guest(reference, Path(reference), memory_bytes)
    # Imported here, because the other cases do not need the kernel store.
    from kadence.kconfig.store import store

    kernel = store.find(reference, plan, X86_64, trace)
    if kernel.target != X86_64:
        raise UsageError(
            f"kernel {kernel.id} is for {kernel.target}, and the lab runs {X86_64}; "
            f"build one with: kadence kernel build --target {X86_64} ..."
        )
    return Guest(f"{kernel.kind} {kernel.id}", kernel.image, memory_bytes)
