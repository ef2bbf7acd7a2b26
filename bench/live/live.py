# SPDX-License-Identifier: GPL-2.0-or-later
"""What units cost in Debian's kernel: calls, phases, installation and removal.

The kernel runs in QEMU with one processor, whose clock counts instructions, one per nanosecond.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.base.keeping import print_and_keep
from bench.base.rows import aligned
from bench.live import modules, places, sources, stops, write_path
from bench.live.figures import Figures, each, least, run
from bench.live.modules import GROUPS
from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.boot import debian, initramfs, qemu

SERIES = "6.12"
INSTALLATIONS = 7
ROUNDS = 3  # of all ways in turn, because the kernel changes with its age
SLEEPERS = 200
LONGEST_REMOVAL_MS = 1000
PROGRAMS = ("calls", "sleepers")
PROBES = ("kprobe", "kretprobe", "fprobe")
MOST_PERCENT = 0.5
CALL, VARIANT_CALL, SWITCH = 3, 20, 10  # goals, in instructions

SCRIPT = """
set -e
say() { echo "= $*"; }
await_everybody() {
	while [ "$(cat /sys/kernel/livepatch/everybody/transition 2>/dev/null)" = 1 ]; do
		sleep 0.01
	done
}
insmod /kadapt.ko
# What the kernel does in its first seconds would count as the first calls' cost.
/calls cost >/dev/null
sleep 5
for round in $(seq @ROUNDS@); do
	say plain; /calls cost
	insmod /table1.ko
	say original; /calls cost
	say variant; /calls cost table1
	say phases; /calls phases
	say phases-unit; /calls phases table1
	echo 0 >/sys/kernel/kadapt/units/table1/installed
	rmmod table1
	insmod /everybody.ko
	await_everybody
	say livepatch; /calls cost
	echo 0 >/sys/kernel/livepatch/everybody/enabled
	await_everybody
	rmmod everybody
done
for kind in @PROBES@; do
	insmod /probes.ko kind=$kind
	say $kind; /calls cost
	rmmod probes
done
for again in $(seq @INSTALLATIONS@); do
	say install-0; /calls install /empty.ko
	rmmod empty
done
for count in @GROUPS@; do
	for again in $(seq @INSTALLATIONS@); do
		say install-$count; /calls install /group$count.ko
		say remove-$count; /calls remove group$count
		rmmod group$count
	done
done
/sleepers @SLEEPERS@ pair 1000000 &
for cycle in $(seq @CYCLES@); do
	say install-pair; /calls install /pair.ko
	sleep 0.1
	say remove-pair; /calls remove pair
	say whole; echo "whole $(cat /sys/module/pair/parameters/whole)"
	say torn; echo "torn $(cat /sys/module/pair/parameters/torn)"
	rmmod pair
done
killall sleepers
wait
"""


def main() -> int:
    """Measure, print the tables and keep them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=20, help="removals under load (20)")
    options = parser.parse_args()
    try:
        print_and_keep(tables(options.cycles), "live.txt")
    except KadenceError as error:
        print(f"bench-live: {error}", file=sys.stderr)
        return 1
    return 0


def tables(cycles: int) -> Iterator[str]:
    """All tables."""
    release = debian.newest_release(SERIES)
    with tempfile.TemporaryDirectory(prefix="kadence-bench-") as folder:
        files = modules.built(release, Path(folder))
        yield f"Debian {release} in QEMU, one processor; instructions if no unit is given"
        figures = measured(release, files, cycles)
        yield from paper(figures)
        yield from mechanisms(figures)
        yield from places.without_thunks(release, files)
        yield from changes(figures)
        yield from removals(figures, cycles)
        for table in (stops.table(release, files), write_path.table(release, files)):
            yield ""
            yield from table
    yield ""
    yield from places.planted()


def measured(release: str, files: Mapping[str, initramfs.Content], cycles: int) -> Figures:
    """What a guest measured by the script."""
    values = {"PROBES": " ".join(PROBES), "GROUPS": " ".join(map(str, GROUPS)), "ROUNDS": ROUNDS,
              "INSTALLATIONS": INSTALLATIONS, "SLEEPERS": SLEEPERS, "CYCLES": cycles}  # fmt: skip
    machine = qemu.Machine(
        debian.kernel_image(release),
        memory_megabytes=1024,
        kernel_arguments=["quiet"],
        timeout_seconds=3000 + 5 * cycles,
    )
    programs = {name: resources.built(f"bench/live/{name}") for name in PROGRAMS}
    return run(machine, each(SCRIPT, values), {**files, **programs})


def paper(figures: Figures) -> Iterator[str]:
    """The paper's Table 1: what a call costs that goes through dispatch."""
    yield ""
    yield f"The paper's Table 1 (goal: each at most {MOST_PERCENT} % more)"
    ways = ["original", "%", "variant", "%", "live patch", "%"]
    rows = [["", "plain", "rounds differ by %", *ways, "paper's %"]]
    for function in sources.TABLE_1:
        plain = least(figures, "plain", function.operation)
        most = max(figures["plain"][function.operation])
        row = [f"{function.operation} ({function.name})", f"{plain:,.0f}"]
        row.append(f"{100 * (most / plain - 1):.2f}")
        for section in ("original", "variant", "livepatch"):
            more = least(figures, section, function.operation) - plain
            row += [f"{more:+.1f}", f"{100 * more / plain:.2f}"]
        rows.append([*row, f"{function.paper_percent:.2f}"])
    yield from aligned(rows)


def mechanisms(figures: Figures) -> Iterator[str]:
    """One call of write(2) by each mechanism."""
    yield ""
    yield f"write(2) of 16 bytes by each mechanism (goals: {CALL}, and {VARIANT_CALL} with variant)"
    plain = least(figures, "plain", "write")
    ways = {"original": "a unit that others take", "variant": "a unit that calls the original",
            "livepatch": "a live patch that calls the original"}  # fmt: skip
    ways |= {kind: f"a {kind} that does nothing" for kind in PROBES}
    rows = [[name, f"{least(figures, way, 'write') - plain:+.1f}"] for way, name in ways.items()]
    yield from aligned(rows)


def changes(figures: Figures) -> Iterator[str]:
    """A phase call with and without a unit, and installations."""
    plain, taken = (least(figures, way, "switch") for way in ("phases", "phases-unit"))
    yield ""
    yield (
        f"KADAPT_ENTER: {plain:,.1f}; in a phase that takes a unit {taken - plain:+.1f} "
        f"(goal: at most {SWITCH})"
    )
    yield ""
    rows = [["functions of a unit", "install, ms", "spread", "goal", "remove, ms", "spread"]]
    empty = _spread(_milliseconds(figures, "install-0"))
    rows.append(["none: an empty module", *empty, "-", "-", "-"])
    for count, most in GROUPS.items():
        installed, removed = (
            _milliseconds(figures, f"{verb}-{count}") for verb in ("install", "remove")
        )
        rows.append([str(count), *_spread(installed), str(most), *_spread(removed)])
    yield from aligned(rows)


def removals(figures: Figures, cycles: int) -> Iterator[str]:
    """Removal while processes sleep in the unit."""
    removed = _milliseconds(figures, "remove-pair")
    whole, torn = (int(sum(figures[name][name])) for name in ("whole", "torn"))
    yield ""
    yield (
        f"{len(removed)} of {cycles} removals with {SLEEPERS} processes in the unit: median "
        f"{statistics.median(removed):.1f} ms, worst {max(removed):.1f} ms "
        f"(goal: {LONGEST_REMOVAL_MS}); {whole} calls saw all of the unit, {torn} half of it"
    )


def _milliseconds(figures: Figures, section: str) -> list[float]:
    return [us / 1000 for us in figures[section]["us"]]


def _spread(values: list[float]) -> list[str]:
    return [f"{statistics.median(values):.1f}", f"{min(values):.1f} to {max(values):.1f}"]


if __name__ == "__main__":
    sys.exit(main())
