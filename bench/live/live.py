# SPDX-License-Identifier: GPL-2.0-or-later
"""What units cost in Debian's kernel: calls, phases, installation and removal.

The kernel runs in QEMU with one processor, whose clock counts instructions, one per nanosecond.
"""

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.base.keeping import print_and_keep
from bench.base.rows import aligned
from bench.live import sources
from kadence import boot
from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.boot import debian, initramfs, qemu
from kadence.live.build import build
from kadence.live.kernel import symbols_of

SERIES = "6.12"
HERE = Path(__file__).resolve().parent
GROUPS = {1: 5, 10: 15, 50: 50}  # functions -> most milliseconds to install them
INSTALLATIONS = 7
ROUNDS = 3  # of all ways in turn, because the kernel changes with its age
SLEEPERS = 200
LONGEST_REMOVAL_MS = 1000
COMPARED = ("probes", "empty")
PROGRAMS = ("calls", "sleepers", "appending")
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
mkdir /tmpfs
mount -t tmpfs none /tmpfs
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
	say appends-plain; /appending /tmpfs/file
	insmod /appends.ko
	say appends-variant; /appending /tmpfs/file appends
	echo 0 >/sys/kernel/kadapt/units/appends/installed
	rmmod appends
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
LINE = re.compile(r"^(= )?(\S+)(?: ([\d.]+))?\r?$", re.MULTILINE)


class Figures:
    """What the guest printed: section -> name -> values."""

    def __init__(self, console: str) -> None:
        self.values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        section = ""
        for mark, name, value in LINE.findall(console):
            if mark:
                section = name
            elif value and section:
                self.values[section][name].append(float(value))

    def least(self, section: str, name: str) -> float:
        """The least of all rounds: what the kernel does beside the call only adds."""
        return min(self.values[section][name])


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
    """All tables of one guest."""
    release = debian.newest_release(SERIES)
    with tempfile.TemporaryDirectory(prefix="kadence-bench-") as folder:
        figures = Figures(measured(release, units(release, Path(folder)), cycles))
    yield f"Debian {release} in QEMU, one processor; figures are instructions unless they are ms"
    yield from paper(figures)
    yield from mechanisms(figures)
    yield from appends(figures)
    yield from changes(figures)
    yield from removals(figures, cycles)


def units(release: str, folder: Path) -> dict[str, Path]:
    """The modules to load, by their names in the guest."""
    root = resources.home()
    subprocess.run(["make", "-s", "kadapt-module", f"RELEASE={release}",
                    f"KADAPT_HEADERS={debian.kernel_headers(release)}"],
                   cwd=root, check=True, stdout=subprocess.DEVNULL)  # fmt: skip
    texts = {
        "table1": sources.table_1("KADENCE_UNIT"),
        "everybody": sources.table_1("KADENCE_UNIT_FOR_EVERYBODY"),
        "pair": (root / "tests/kadapt/live/pair.c").read_text(),
        "appends": (HERE / "appends.c").read_text(),
    }
    symbols = symbols_of(release)
    texts |= {f"group{count}": sources.group(count, symbols) for count in GROUPS}
    for name, text in texts.items():
        (folder / f"{name}.c").write_text(text)
        build(folder / f"{name}.c", release).write(folder / f"{name}.ko")
    modules = {f"{name}.ko": folder / f"{name}.ko" for name in texts}
    modules["kadapt.ko"] = root / f"build/kadapt/module-{release}/kadapt.ko"
    compared = folder / "compared"
    make_compared(release, compared)
    return modules | {f"{name}.ko": compared / f"{name}.ko" for name in COMPARED}


def make_compared(release: str, folder: Path) -> None:
    """The modules with which units are compared."""
    folder.mkdir()
    for name in COMPARED:
        shutil.copy(HERE / f"{name}.c", folder)
    (folder / "Kbuild").write_text(f"obj-m := {' '.join(f'{name}.o' for name in COMPARED)}\n")
    headers = debian.kernel_headers(release)
    subprocess.run(["make", "-s", "-C", headers, f"M={folder}", "modules"], check=True)
    files = [folder / f"{name}.ko" for name in COMPARED]
    subprocess.run(["strip", "--strip-debug", *files], check=True)


def measured(release: str, modules: Mapping[str, initramfs.Content], cycles: int) -> str:
    """The console of a guest that measured all."""
    values = {
        "PROBES": " ".join(PROBES),
        "GROUPS": " ".join(map(str, GROUPS)),
        "INSTALLATIONS": str(INSTALLATIONS),
        "ROUNDS": str(ROUNDS),
        "SLEEPERS": str(SLEEPERS),
        "CYCLES": str(cycles),
    }
    script = re.sub(r"@(\w+)@", lambda found: values[found.group(1)], SCRIPT)
    programs = {name: resources.built(f"bench/live/{name}") for name in PROGRAMS}
    machine = qemu.Machine(
        debian.kernel_image(release),
        memory_megabytes=1024,
        kernel_arguments=["quiet"],
        timeout_seconds=3000 + 5 * cycles,
    )
    outcome = qemu.run_script(machine, script, {**modules, **programs})
    if outcome.status or boot.complaints(outcome.console):
        raise KadenceError(f"the guest failed (status {outcome.status}):\n{outcome.console}")
    return outcome.console


def paper(figures: Figures) -> Iterator[str]:
    """The paper's Table 1: what a call costs that goes through dispatch."""
    yield ""
    yield f"The paper's Table 1 (goal: each at most {MOST_PERCENT} % more)"
    ways = ["original", "%", "variant", "%", "live patch", "%"]
    rows = [["", "plain", "rounds differ by %", *ways, "paper's %"]]
    for function in sources.TABLE_1:
        plain = figures.least("plain", function.operation)
        most = max(figures.values["plain"][function.operation])
        row = [f"{function.operation} ({function.name})", f"{plain:,.0f}"]
        row.append(f"{100 * (most / plain - 1):.2f}")
        for section in ("original", "variant", "livepatch"):
            more = figures.least(section, function.operation) - plain
            row += [f"{more:+.1f}", f"{100 * more / plain:.2f}"]
        rows.append([*row, f"{function.paper_percent:.2f}"])
    yield from aligned(rows)


def mechanisms(figures: Figures) -> Iterator[str]:
    """One call of write(2) by each mechanism."""
    yield ""
    yield f"write(2) of 16 bytes by each mechanism (goals: {CALL}, and {VARIANT_CALL} with variant)"
    plain = figures.least("plain", "write")
    ways = {"original": "a unit that others take", "variant": "a unit that calls the original",
            "livepatch": "a live patch that calls the original"}  # fmt: skip
    ways |= {kind: f"a {kind} that does nothing" for kind in PROBES}
    rows = [[name, f"{figures.least(way, 'write') - plain:+.1f}"] for way, name in ways.items()]
    yield from aligned(rows)


def appends(figures: Figures) -> Iterator[str]:
    """A write path for small records, beside the kernel's own."""
    sums = {figures.least(f"appends-{way}", "bytes") for way in ("plain", "variant")}
    if len(sums) > 1:
        raise KadenceError("the unit `appends` wrote other bytes than the kernel's own function")
    yield ""
    yield "write(2) at the end of a file of tmpfs, in a phase that takes the unit `appends`"
    rows = [["bytes", "plain", "unit", "%"]]
    for count in (16, 4096):
        plain, unit = (
            figures.least(f"appends-{way}", f"append{count}") for way in ("plain", "variant")
        )
        rows.append(
            [str(count), f"{plain:,.0f}", f"{unit:,.0f}", f"{100 * (unit / plain - 1):+.1f}"]
        )
    yield from aligned(rows)


def changes(figures: Figures) -> Iterator[str]:
    """A phase call with and without a unit, and installations."""
    plain, taken = (figures.least(way, "switch") for way in ("phases", "phases-unit"))
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
    whole, torn = (int(sum(figures.values[name][name])) for name in ("whole", "torn"))
    yield ""
    yield (
        f"{len(removed)} of {cycles} removals with {SLEEPERS} processes in the unit: median "
        f"{statistics.median(removed):.1f} ms, worst {max(removed):.1f} ms "
        f"(goal: {LONGEST_REMOVAL_MS}); {whole} calls saw all of the unit, {torn} half of it"
    )


def _milliseconds(figures: Figures, section: str) -> list[float]:
    return [us / 1000 for us in figures.values[section]["us"]]


def _spread(values: list[float]) -> list[str]:
    return [f"{statistics.median(values):.1f}", f"{min(values):.1f} to {max(values):.1f}"]


if __name__ == "__main__":
    sys.exit(main())
