# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the effect of I/O paths on whole programs: plain beside adapted, on the same kernel.

On User-Mode Linux and on this machine's own kernel the unit is wall time, with runs interleaved. In
the lab the unit is instructions. This machine's kernel has no device, so there only the library's
own effect shows. Gains on User-Mode Linux are no headline: its system calls cost tens of
microseconds here.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bench.base import programs
from bench.base.keeping import print_and_keep
from kadence.base import resources, statistics
from kadence.base.errors import KadenceError
from kadence.base.stages import Stages, alone_in
from kadence.kconfig.store.build import BuildRequest, build
from kadence.kconfig.store.store import Kernel
from kadence.lab import Guest
from kadence.lab import run as run_in_lab
from kadence.lab.guest import X86_64
from kadence.lab.report import ON_MACHINE
from kadence.measurement import execution, measure
from kadence.measurement.measure import (
    ADAPTED,
    KERNEL_NAMES,
    MACHINE,
    PLAIN,
    TAILORED,
    Bench,
    Cell,
    Measurements,
)
from kadence.program import program
from kadence.program.places import Places
from kadence.program.program import Program
from kadence.specialize import pipeline
from kadence.specialize.pipeline import Prepared, Wish

ROUNDS = 7
NAMES = ("heat", "ring", "minimap2")
# Records of 64 bytes, with so many steps between them that I/O is under a fifth of the plain run.
HEAT = ("./heat", "-n", "1024", "-s", "240", "-e", "80", "-g", "8", "-r", "64")
HEAT_SILENT = (*HEAT[:5], "-e", "1000", *HEAT[7:])
# In the lab every instruction is emulated, so heat's plate is smaller. Its file is on tmpfs,
# because the guest's root is virtiofs, which has no leases.
LAB_SINK = "/mnt"
LAB_RUNS = {
    "heat": tuple(f"./heat -n 512 -s 20 -e 10 -g 4 -r 64 -o {LAB_SINK}/checkpoint".split()),
    "ring": ("./ring", "4", "4", "50", "1000000"),
}


@dataclass(frozen=True)
class Line:
    """One program on one kernel."""

    where: str
    plain: statistics.Estimate
    ratio: statistics.Estimate  # of the adapted program's time to the plain one's

    def told(self) -> str:
        verdict = "no difference" if self.ratio.low <= 1 <= self.ratio.high else ""
        return (
            f"  {self.where:<28} {self.plain.value:>9.3f} s  {self.ratio.value:>6.3f} "
            f"[{self.ratio.low:.3f}, {self.ratio.high:.3f}]  n = {self.ratio.count}  {verdict}"
        )


def described(name: str) -> Program:
    """Returns the example, with the run that is measured here."""
    found = program.read(resources.home() / "examples" / name)
    return replace(found, run=HEAT) if name == "heat" else found


def prepared(name: str) -> Prepared:
    """Make the profile, the plan, both builds and a proven User-Mode Linux kernel."""
    output = resources.home() / "build" / "bench" / "io" / name
    with alone_in(output):
        return pipeline.prepare(described(name), Places(output, name), Stages(output), Wish())


def served(found: Prepared) -> Kernel:
    """Returns the kernel that was proven for the program."""
    if TAILORED not in found.kernels:
        raise programs.UnservedError(f"no kernel serves {found.program.name}: {found.proof.reason}")
    return found.kernels[TAILORED]


def measured(found: Prepared) -> Measurements:
    """Measure plain and adapted in turn, on every kernel."""
    scratch = found.places.output / "scratch"
    scratch.mkdir(exist_ok=True)
    bench = Bench(
        program=found.program,
        folders={mode: found.places.build(mode) for mode in (PLAIN, ADAPTED)},
        images={TAILORED: served(found).image},
        scratch=scratch,
    )
    return measure.measure(bench, ROUNDS)


def lines(found: Measurements) -> Iterator[Line]:
    """Yields a line for each kernel, by wall time."""
    for kernel, where in (
        (TAILORED, "User-Mode Linux, tailored"),
        (MACHINE, KERNEL_NAMES[MACHINE]),
    ):
        plain, adapted = (
            [sample.program_seconds for sample in found.samples[Cell(kernel, mode)]]
            for mode in (PLAIN, ADAPTED)
        )
        yield Line(where, statistics.median(plain), statistics.paired_ratio(adapted, plain))


def in_lab(name: str, found: Prepared) -> Iterator[str]:
    """Yields the instructions of both programs, on a kernel tailored to the plan."""
    plan = found.places.artefact("plan.json")
    kernel = build(BuildRequest(kind=TAILORED, plan=plan, target=X86_64))
    guest = Guest(f"{name} {kernel.id}", kernel.image)
    used = {}
    for mode in (PLAIN, ADAPTED):
        command = " ".join(LAB_RUNS[name])
        folder = found.places.build(mode)
        script = f"mount -t tmpfs none {LAB_SINK} && cd {folder} && exec {command}"
        used[mode] = run_in_lab(guest, ["/bin/sh", "-c", script]).processor_ns
    ratio = used[ADAPTED] / used[PLAIN]
    yield (
        f"  {'the lab, tailored':<28} {used[PLAIN] / 1e6:>9.1f} M instructions  {ratio:>6.3f}  "
        f"({' '.join(LAB_RUNS[name])})"
    )
    yield f"  {ON_MACHINE}"


def share_of_io(found: Prepared) -> str:
    """Returns the share of the plain run's time on this machine that disappears without I/O."""
    folder, scratch = found.places.build(PLAIN), found.places.output / "scratch"
    seconds = {
        argv: statistics.median([_seconds(argv, folder, scratch) for _ in range(ROUNDS)]).value
        for argv in (HEAT, HEAT_SILENT)
    }
    return f"{1 - seconds[HEAT_SILENT] / seconds[HEAT]:.0%}"


def _seconds(argv: tuple[str, ...], folder: Path, scratch: Path) -> float:
    ending = execution.run(
        argv, folder, image=None, scratch=scratch, environment=execution.environment()
    )
    return ending.sample.program_seconds


def told(name: str) -> Iterator[str]:
    """Yields one program's lines."""
    found = prepared(name)
    samples = measured(found)
    yield f"{name}: {' '.join(found.program.run)}"
    if samples.differences:
        yield f"  outputs differ: {sorted(map(str, samples.differences))}"
    else:
        yield "  outputs: byte for byte the same"
    for line in lines(samples):
        yield line.told()
    if name in LAB_RUNS:
        yield from in_lab(name, found)
    if name == "heat":
        yield f"  I/O's share of the plain run on this machine: {share_of_io(found)}"
    yield ""


def main() -> int:
    """Measure, print each line as soon as it is known, and keep the output."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="programs whose name this expression matches")
    options = parser.parse_args()
    print_and_keep(everything(options.only), "io-programs.txt")
    return 0


def everything(pattern: str) -> Iterator[str]:
    """Yields all lines as soon as they are known."""
    yield "adapted against plain on the same kernel: the plain run's median, and the ratio"
    yield "of times with its interval (95 %)"
    yield ""
    for name in NAMES:
        if re.search(pattern, name):
            yield from told(name)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-io-programs: {error}")
