# SPDX-License-Identifier: GPL-2.0-or-later
"""What a call costs where the kernel's build planted the places, and without return thunks."""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.base.rows import aligned
from bench.live import figures, sources
from kadence.base import resources
from kadence.boot import debian, initramfs, qemu
from kadence.kconfig.store.build import BuildRequest, build

ROUNDS = 3
OFF, ORIGINAL, VARIANT = 1, 3, 5  # goals, in instructions more
WITHOUT_THUNKS = "mitigations=off"
# What the guest's script and programs need of a kernel that else only starts.
NEEDED = ("SYSFS", "PROC_FS", "TMPFS", "DEVTMPFS", "BINFMT_SCRIPT", "FUTEX", "POSIX_TIMERS",
          "HIGH_RES_TIMERS", "MULTIUSER", "FILE_LOCKING")  # fmt: skip

# What the kernel does in its first seconds would count as the first calls' cost.
WAIT = "/calls cost >/dev/null\nsleep 5\n"
PLAIN = f"""{WAIT}
for round in $(seq {ROUNDS}); do
	echo "= plain"; /calls cost
done
"""
PLANTED = f"""{WAIT}
unit=/sys/kernel/kadapt/units/table1/installed
for round in $(seq {ROUNDS}); do
	echo 0 >$unit
	echo "= off"; /calls cost
	echo 1 >$unit
	echo "= original"; /calls cost
	echo "= variant"; /calls cost table1
done
"""
LOADED = f"""{WAIT}
insmod /kadapt.ko
for round in $(seq {ROUNDS}); do
	echo "= plain"; /calls cost
	insmod /table1.ko
	echo "= original"; /calls cost
	echo "= variant"; /calls cost table1
	echo 0 >/sys/kernel/kadapt/units/table1/installed
	rmmod table1
done
"""


def planted() -> Iterator[str]:
    """A kernel that was built with the unit, beside the same without."""
    with tempfile.TemporaryDirectory(prefix="kadence-bench-") as name:
        unit = Path(name) / "table1.c"
        unit.write_text(sources.table_1("KADENCE_UNIT"))
        found = {
            **_measured(_built(()), PLAIN),
            **_measured(_built((unit,)), PLANTED),
        }
    yield "A small kernel of Kadence's, built with the unit: more instructions than built without"
    yield f"(goals: {OFF} when off, {ORIGINAL} with the original, {VARIANT} with the variant)"
    ways = ["off", "original", "variant"]
    rows = [["", "plain", *ways]]
    for function in sources.TABLE_1:
        plain = figures.least(found, "plain", function.operation)
        more = [figures.least(found, way, function.operation) - plain for way in ways]
        label = f"{function.operation} ({function.name})"
        rows.append([label, f"{plain:,.0f}", *(f"{value:+.1f}" for value in more)])
    yield from aligned(rows)


def without_thunks(release: str, modules: Mapping[str, initramfs.Content]) -> Iterator[str]:
    """Debian's kernel as it runs on a processor that needs no return thunks."""
    found = _measured(debian.kernel_image(release), LOADED, modules, WITHOUT_THUNKS)
    plain, original, variant = (
        figures.least(found, way, "write") for way in ("plain", "original", "variant")
    )
    yield (
        f"write(2) of 16 bytes with `{WITHOUT_THUNKS}`, so without return thunks: "
        f"original {original - plain:+.1f}, variant {variant - plain:+.1f} of {plain:,.0f}"
    )


def _built(units: tuple[Path, ...]) -> Path:
    needed = tuple(sorted((symbol, "y") for symbol in NEEDED))
    request = BuildRequest(kind="minimal", target="x86_64", units=units, overrides=needed)
    return build(request).image


def _measured(
    image: Path,
    script: str,
    files: Mapping[str, initramfs.Content] | None = None,
    *arguments: str,
) -> figures.Figures:
    machine = qemu.Machine(
        image,
        memory_megabytes=1024,
        kernel_arguments=["quiet", *arguments],
        timeout_seconds=1200,
    )
    program = resources.built("bench/live/calls")
    return figures.run(machine, f"set -e\n{script}", {**(files or {}), "calls": program})
