# SPDX-License-Identifier: GPL-2.0-or-later
"""A unit's own write path for small records, beside the kernel's: on tmpfs and on ext4."""

import lzma
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.base.rows import aligned
from bench.live import figures
from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.boot import debian, initramfs, qemu

ROUNDS = 3
DISK_MIB = 32
FILE_SYSTEMS = ("tmpfs", "ext4")

# A crash is a copy of the disk while the file system is mounted: the journal is not at its end.
SCRIPT = """
set -e
insmod /kadapt.ko
insmod /brd.ko rd_nr=2 rd_size=@KIB@
mkdir /tmpfs /ext4 /crashed
mount -t tmpfs none /tmpfs
dd if=/disk of=/dev/ram0 bs=65536 2>/dev/null
mount -t ext4 /dev/ram0 /ext4
say() { echo "= $*"; }
crash() {
	dd if=/dev/ram0 of=/dev/ram1 bs=65536 iflag=direct oflag=direct 2>/dev/null
	mount -t ext4 /dev/ram1 /crashed
	cmp /ext4/file /crashed/file
	umount /crashed
	say $1; echo "same 1"
}
# What the kernel does in its first seconds would count as the first calls' cost.
sleep 5
for round in $(seq @ROUNDS@); do
	say tmpfs-plain; /appending /tmpfs/file
	say ext4-plain; /appending /ext4/file
	crash ext4-plain
	insmod /appends.ko
	say tmpfs-unit; /appending /tmpfs/file appends
	say ext4-unit; /appending /ext4/file appends
	crash ext4-unit
	echo 0 >/sys/kernel/kadapt/units/appends/installed
	rmmod appends
done
"""


def table(release: str, modules: Mapping[str, initramfs.Content]) -> Iterator[str]:
    """Instructions of a write, by file systems and sizes."""
    found = _measured(release, modules)
    _require_same(found)
    yield "write(2) at the end of a file, in a phase that takes the unit `appends`; the file has"
    yield "the same bytes, and on ext4 has them after fsync(2) and a crash"
    rows = [["", "bytes", "plain", "unit", "%"]]
    for file_system in FILE_SYSTEMS:
        for count in (16, 4096):
            plain, unit = (
                figures.least(found, f"{file_system}-{way}", f"append{count}")
                for way in ("plain", "unit")
            )
            percent = f"{100 * (unit / plain - 1):+.1f}"
            rows.append([file_system, str(count), f"{plain:,.0f}", f"{unit:,.0f}", percent])
    yield from aligned(rows)


def _require_same(found: figures.Figures) -> None:
    sums = {total for values in found.values() for total in values.get("bytes", [])}
    crashes = sum(len(values.get("same", [])) for values in found.values())
    if len(sums) != 1:
        raise KadenceError("the unit `appends` wrote other bytes than the kernel's own function")
    if crashes != 2 * ROUNDS:
        raise KadenceError(f"only {crashes} of {2 * ROUNDS} files are whole after a crash")


def _measured(release: str, modules: Mapping[str, initramfs.Content]) -> figures.Figures:
    machine = qemu.Machine(
        debian.kernel_image(release),
        memory_megabytes=1024,
        kernel_arguments=["quiet"],
        timeout_seconds=1200,
    )
    script = figures.each(SCRIPT, {"KIB": DISK_MIB << 10, "ROUNDS": ROUNDS})
    with tempfile.TemporaryDirectory(prefix="kadence-bench-") as name:
        files: dict[str, initramfs.Content] = {
            **modules,
            "appending": resources.built("bench/live/appending"),
            "brd.ko": _ram_disk(release),
            "disk": _empty_disk(Path(name)),
        }
        return figures.run(machine, script, files)


def _ram_disk(release: str) -> bytes:
    module = debian.kernel_modules(release) / "kernel/drivers/block/brd.ko.xz"
    return lzma.decompress(module.read_bytes())


def _empty_disk(folder: Path) -> Path:
    disk = folder / "disk"
    with disk.open("wb") as file:
        file.truncate(DISK_MIB << 20)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", disk], check=True)
    return disk
