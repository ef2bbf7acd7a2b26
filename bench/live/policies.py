# SPDX-License-Identifier: GPL-2.0-or-later
"""Two uses of units from the paper, done by calls that upstream's kernel has already.

Debian's kernel runs in QEMU with one processor, whose clock counts instructions, one a nanosecond.
Milliseconds are those of that clock.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping

from bench.base.keeping import print_and_keep
from bench.live import figures, linger
from kadence import boot
from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.boot import debian, initramfs, qemu

SERIES = "6.12"


def main() -> int:
    """Measure, print the tables and keep them."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    try:
        print_and_keep(tables(debian.newest_release(SERIES), linger.Size()), "live-policies.txt")
    except KadenceError as error:
        print(f"bench-live-policies: {error}", file=sys.stderr)
        return 1
    return 0


def tables(release: str, lingering: linger.Size) -> Iterator[str]:
    """The tables of both uses, as they become known."""
    yield f"Debian {release} in QEMU, one processor; milliseconds are of its clock,"
    yield "which counts instructions, one a nanosecond"
    yield from without_extension(release)
    files = {"linger": resources.built("bench/live/linger")}
    machine = qemu.Machine(
        debian.kernel_image(release), kernel_arguments=["quiet"], timeout_seconds=3000
    )
    yield ""
    yield from linger.table(run(machine, linger.script(lingering), files), lingering)


def without_extension(release: str) -> Iterator[str]:
    """Says so if the kernel has no schedulers by BPF, which could do what guests need."""
    configuration = (debian.kernel_headers(release) / ".config").read_text(encoding="utf-8")
    if "CONFIG_SCHED_CLASS_EXT=y" not in configuration.splitlines():
        yield "This kernel has no sched_ext (CONFIG_SCHED_CLASS_EXT), so none is measured."


def run(
    machine: qemu.Machine, script: str, files: Mapping[str, initramfs.Content]
) -> figures.Figures:
    """What a guest measured by this script."""
    outcome = qemu.run_script(machine, f"set -e\n{script}", files)
    if outcome.status or boot.complaints(outcome.console):
        raise KadenceError(f"the guest failed (status {outcome.status}):\n{outcome.console}")
    return figures.read(outcome.console)


if __name__ == "__main__":
    sys.exit(main())
