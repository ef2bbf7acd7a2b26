# SPDX-License-Identifier: GPL-2.0-or-later
"""Two uses of units from the paper, done by calls that upstream's kernel has already.

Debian's kernel runs in QEMU with one processor, whose clock counts instructions, one a nanosecond.
Milliseconds are those of that clock.
"""

import argparse
import lzma
import sys
from collections.abc import Iterator, Sequence

from bench.base.keeping import print_and_keep
from bench.live import figures, gangs, linger
from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.boot import debian, initramfs, qemu

SERIES = "6.12"


def main() -> int:
    """Measure, print the tables and keep them."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    try:
        print_and_keep(
            tables(debian.newest_release(SERIES), linger.Size(), gangs.Size()), "live-policies.txt"
        )
    except KadenceError as error:
        print(f"bench-live-policies: {error}", file=sys.stderr)
        return 1
    return 0


def tables(release: str, lingering: linger.Size, taking_turns: gangs.Size) -> Iterator[str]:
    """The tables of both uses, as they become known."""
    yield f"Debian {release} in QEMU, one processor; milliseconds are of its clock,"
    yield "which counts instructions, one a nanosecond"
    yield from without_extension(release)
    files = {"linger": resources.built("bench/live/linger")}
    found = figures.run(guest(release), f"set -e\n{linger.script(lingering)}", files)
    yield ""
    yield from linger.table(found, lingering)
    script = f"set -e\n{gangs.script(taking_turns)}"
    found = figures.run(paging_guest(release, taking_turns), script, disk(release))
    yield ""
    yield from gangs.table(found, taking_turns)


def guest(release: str, memory_mib: int = 512, options: Sequence[str] = ()) -> qemu.Machine:
    """A machine with one processor, and with a clock that counts instructions."""
    return qemu.Machine(
        debian.kernel_image(release),
        memory_megabytes=memory_mib,
        options=options,
        kernel_arguments=["quiet"],
        timeout_seconds=3000,
    )


def paging_guest(release: str, size: gangs.Size) -> qemu.Machine:
    """A machine with too little memory for both jobs."""
    return guest(release, size.memory_mib, gangs.PROCESSOR)


def disk(release: str) -> dict[str, initramfs.Content]:
    """The jobs, and the kernel's own modules for a disk that follows the guest's clock."""
    modules = debian.kernel_modules(release) / "kernel"
    names = {"configfs": "fs/configfs", "null_blk": "drivers/block/null_blk"}
    files: dict[str, initramfs.Content] = {
        f"{name}.ko": lzma.decompress((modules / folder / f"{name}.ko.xz").read_bytes())
        for name, folder in names.items()
    }
    return {**files, "gang": resources.built("bench/live/gang")}


def without_extension(release: str) -> Iterator[str]:
    """Says so if the kernel has no schedulers by BPF, which could do what guests need."""
    configuration = (debian.kernel_headers(release) / ".config").read_text(encoding="utf-8")
    if "CONFIG_SCHED_CLASS_EXT=y" not in configuration.splitlines():
        yield "This kernel has no sched_ext (CONFIG_SCHED_CLASS_EXT), so none is measured."


if __name__ == "__main__":
    sys.exit(main())
