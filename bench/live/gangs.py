# SPDX-License-Identifier: GPL-2.0-or-later
"""Adaptive paging by upstream's own calls: two jobs take turns in memory for less than both."""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from bench.base.rows import aligned
from bench.live.figures import Figures, each

BATCH, PLAIN, BOTH = "serial", "gang", "gang-out-in"
WAYS = {
    BATCH: "one job after the other",
    PLAIN: "turns, plain reclaim",
    "gang-out": "turns, page-out",
    "gang-in": "turns, page-in",
    BOTH: "turns, page-out and page-in",
}
SHARE = 0.7  # of the memory, for each job
REQUEST_US, MB_PER_SECOND = 80, 2000  # the disk that the guest has
SLOW_REQUEST_MS, SLOW_MB_PER_SECOND = 8, 150  # the disk that is only calculated
LEAST_FACTOR = 1.1  # less is no gain

# The kernel copies all that the disk moves. A processor that copies bytes by single instructions
# counts each byte as an instruction, so the guest's has none that are quick.
PROCESSOR = ("-cpu", "max,erms=off,fsrm=off")

# A disk whose requests end by a timer of the guest's clock. Its memory is taken beforehand.
SCRIPT = """
insmod /configfs.ko
insmod /null_blk.ko nr_devices=0
mkdir /config
mount -t configfs none /config
disk=/config/nullb/nullb0
mkdir $disk
echo @SWAP_MIB@ >$disk/size
echo 1 >$disk/memory_backed
echo 2 >$disk/irqmode
echo @REQUEST_NS@ >$disk/completion_nsec
echo @MB_PER_SECOND@ >$disk/mbps
echo 1 >$disk/power
dd if=/dev/zero of=/dev/nullb0 bs=1M count=@SWAP_MIB@ 2>/dev/null
echo 3 >/proc/sys/vm/drop_caches
mkswap /dev/nullb0 >/dev/null
sleep 3
available=$(awk '/MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
job=$(awk "BEGIN { print int($available * @SHARE@) }")
echo "= memory"; echo "available $available"; echo "job $job"
for round in $(seq @ROUNDS@); do
	for way in @WAYS@; do
		swapon /dev/nullb0
		echo "= $way"; /gang $way $job @PASSES@ @QUANTUM_MS@ nullb0
		swapoff /dev/nullb0
	done
done
"""


@dataclass(frozen=True)
class Size:
    """How much memory there is, and how long the jobs take."""

    rounds: int = 3
    memory_mib: int = 336  # the disk's and the kernel's, too
    swap_mib: int = 160
    passes: int = 32
    quantum_ms: int = 1000


def script(size: Size) -> str:
    """What the guest runs."""
    values = {"ROUNDS": size.rounds, "SWAP_MIB": size.swap_mib, "PASSES": size.passes}
    disk = {"REQUEST_NS": REQUEST_US * 1000, "MB_PER_SECOND": MB_PER_SECOND}
    ways = {"WAYS": " ".join(WAYS), "QUANTUM_MS": size.quantum_ms, "SHARE": SHARE}
    return each(SCRIPT, values | disk | ways)


def table(figures: Figures, size: Size) -> Iterator[str]:
    """What the jobs take and what the disk does, by ways."""
    [available], [job] = figures["memory"]["available"], figures["memory"]["job"]
    yield f"Adaptive paging: two jobs of {job:.0f} MiB in {available:.0f} MiB of memory, each"
    yield f"{size.quantum_ms} ms at a time; swap on a disk with {REQUEST_US} us a request and"
    yield f"{MB_PER_SECOND} MB/s of the guest's clock; {size.rounds} rounds: median (spread)"
    head = ["", "both jobs, ms", "of that busy, ms", "changes", "major faults", "reads", "writes",
            "MiB moved", "slow disk, s"]  # fmt: skip
    yield from aligned([head, *(_row(figures, way) for way in WAYS)])
    yield f"slow disk: a model, busy time + {SLOW_REQUEST_MS} ms a request + bytes at"
    yield f"{SLOW_MB_PER_SECOND} MB/s. It takes the requests that were counted on the other disk."
    yield _conclusion(figures)


def slow_disk_s(figures: Figures, way: str) -> float:
    """How long both jobs would take with the slow disk."""
    requests = _median(figures, way, "reads") + _median(figures, way, "writes")
    moving_s = _median(figures, way, "mib") * 1.048576 / SLOW_MB_PER_SECOND
    return _median(figures, way, "busy_ms") / 1000 + requests * SLOW_REQUEST_MS / 1000 + moving_s


def _row(figures: Figures, way: str) -> list[str]:
    values = figures[way]
    least, most = min(values["ms"]), max(values["ms"])
    names = ("busy_ms", "changes", "faults", "reads", "writes", "mib")
    return [
        WAYS[way],
        f"{_median(figures, way, 'ms'):,.0f} ({least:,.0f}-{most:,.0f})",
        *(f"{_median(figures, way, name):,.0f}" for name in names),
        f"{slow_disk_s(figures, way):,.1f}",
    ]


def _median(figures: Figures, way: str, name: str) -> float:
    return statistics.median(figures[way][name])


def _conclusion(figures: Figures) -> str:
    sooner, fewer = (
        _median(figures, PLAIN, name) / max(_median(figures, BOTH, name), 1)
        for name in ("ms", "faults")
    )
    slow = slow_disk_s(figures, PLAIN) / slow_disk_s(figures, BOTH)
    said = (
        f"Page-out and page-in by upstream's process_madvise(2): both jobs end {sooner:.2f} times "
        f"as soon ({slow:.2f} by the model), with {fewer:.1f} times fewer major faults"
    )
    enough = sooner >= LEAST_FACTOR and fewer >= LEAST_FACTOR
    return f"{said}: " + ("no unit is built." if enough else "these calls are not enough.")
