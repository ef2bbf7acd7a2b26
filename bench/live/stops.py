# SPDX-License-Identifier: GPL-2.0-or-later
"""How long an installation keeps another processor from its program.

Two processors take turns in QEMU, and its plugin counts what the other one executes in the kernel
between two instructions of the program that it runs.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.base.rows import aligned
from bench.live import figures
from bench.live.modules import GROUPS
from kadence.base import resources
from kadence.boot import debian, initramfs, qemu
from kadence.lab import calls
from kadence.live.kernel import kallsyms_of

MOST_US = 50
INSTRUCTIONS_PER_US = 1000
ALONE, INSTALL, REMOVE = 1, 2, 3  # sections of stopped.c
OTHER = 1
CONTROL = "halt"
COUNTED = ("-icount", "shift=0,sleep=off")  # the clock of both processors counts instructions
TIMES = 5

SCRIPT = """
insmod /kadapt.ko
@BEFORE@
sleep 2
for again in $(seq @TIMES@); do
	/stopped @WHAT@
	@AFTER@
done
"""


def table(release: str, modules: Mapping[str, initramfs.Content]) -> Iterator[str]:
    """The longest stays in the kernel, by what the first processor did."""
    yield f"The other processor's longest stay in the kernel, us (goal: {MOST_US}; {TIMES} times)"
    rows = [["while the first one", "us"]]
    rows.append(["waits", _longest(release, modules, "alone", "", ALONE)])
    for count in GROUPS:
        unit = f"group{count}"
        install = _longest(release, modules, f"install /{unit}.ko", _removal(unit), INSTALL)
        rows.append([f"installs a unit of {count}", install])
    unit = f"group{max(GROUPS)}"
    insert = f"insmod /{unit}.ko"
    after = f"rmmod {unit}; {insert}"
    remove = _longest(release, modules, f"remove {unit}", after, REMOVE, insert)
    rows.append([f"removes a unit of {max(GROUPS)}", remove])
    control = _longest(release, modules, f"install /{CONTROL}.ko", f"rmmod {CONTROL}", INSTALL)
    rows.append(["stops all processors for 1000 us, to compare", control])
    yield from aligned(rows)


def _removal(unit: str) -> str:
    return f"echo 0 >/sys/kernel/kadapt/units/{unit}/installed; rmmod {unit}"


def _longest(
    release: str,
    modules: Mapping[str, initramfs.Content],
    what: str,
    after: str,
    section: int,
    before: str = "",
) -> str:
    values = {"BEFORE": before, "WHAT": what, "AFTER": after, "TIMES": TIMES}
    counted = _counted(release, modules, figures.each(SCRIPT, values))
    [stay] = [
        tally
        for tally in counted
        if (tally.section, tally.processor, tally.function) == (section, OTHER, calls.STAY)
    ]
    return f"{stay.longest / INSTRUCTIONS_PER_US:,.1f}"


def _counted(
    release: str, modules: Mapping[str, initramfs.Content], script: str
) -> Sequence[calls.Tally]:
    with tempfile.TemporaryDirectory(prefix="kadence-bench-") as name:
        machine = qemu.Machine(
            debian.kernel_image(release),
            memory_megabytes=1024,
            processors=2,
            parallel=False,
            options=(*COUNTED, *calls.options(Path(name), kallsyms_of(release))),
            kernel_arguments=["quiet", calls.KERNEL_ARGUMENT],
            timeout_seconds=1200,
        )
        program = resources.built("bench/live/stopped")
        figures.run(machine, f"set -e\n{script}", {**modules, "stopped": program})
        return calls.tallies(Path(name))
