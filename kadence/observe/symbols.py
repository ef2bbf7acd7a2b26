# SPDX-License-Identifier: GPL-2.0-or-later
"""The symbols of any kernel that the lab runs: the kernel is asked once, and the answer is kept."""

import tempfile
from pathlib import Path

from kadence.base import artefact, resources, terminal
from kadence.base.errors import GuestError
from kadence.boot import Request
from kadence.boot.session import run
from kadence.kconfig.store import store
from kadence.lab.guest import X86_64, Guest
from kadence.lab.session import BOOT_TIMEOUT_SECONDS

KALLSYMS = "/proc/kallsyms"


def of(guest: Guest) -> list[str]:
    """The lines of /proc/kallsyms. Raises GuestError if the kernel does not tell them."""
    kept = resources.cache_directory() / "symbols" / store.digest(guest.image)[:16]
    if not kept.exists():
        terminal.tell(f"observe: booting {guest.name} once for its symbols …")
        told = _ask(guest)
        kept.parent.mkdir(parents=True, exist_ok=True)
        with artefact.atomic_output(kept) as temporary:
            temporary.write_text(told, encoding="ascii")
    return kept.read_text(encoding="ascii").splitlines()


def _ask(guest: Guest) -> str:
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        result = run(
            Request(
                image=guest.image,
                argv=["/bin/cat", KALLSYMS],
                target=X86_64,
                directory=Path("/"),
                lab=True,
                memory_bytes=guest.memory_bytes,
                stdout=output.fileno(),
                stderr=errors.fileno(),
                boot_timeout_seconds=BOOT_TIMEOUT_SECONDS,
            )
        )
        output.seek(0)
        told = output.read().decode("ascii")
    if result.status or not told:
        raise GuestError(
            f"{guest.name} has no {KALLSYMS}, so its functions have no names; observe a kernel "
            "with CONFIG_KALLSYMS, such as --kernel debian"
        )
    return told
