# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's kernel with copies of its hot code, beside itself as it is.

    python -m bench.layout.copies PROGRAM...

PROGRAM is one that bench/layout/positioned.py has built. `kadence live layout` makes the copies for
one input; the program runs on another one. The figures are of the lab's cache model.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.base.commands import KADENCE
from bench.layout.builds import LAID_OUT, PLAIN
from bench.layout.positioned import (
    HEAT,
    PROGRAMS,
    RUNS,
    Found,
    Measured,
    folder_of,
    means,
    table,
)
from bench.layout.positioned import Runs as Footprints
from kadence.boot import debian
from kadence.kernel.footprint import footprint
from kadence.lab.guest import STOCK_SERIES
from kadence.positioned.counting import Kernel, count, kernel_of

# On Debian's kernel, heat's commands take ten minutes a run.
SHORT_HEAT = {
    "trained": ("sh", "-c", f"{HEAT} -n 64 -s 20"),
    "measured": ("sh", "-c", f"{HEAT} -n 80 -s 15"),
}


def main(names: Sequence[str]) -> None:
    """Print a table for each program."""
    kernel = kernel_of(debian.newest_release(STOCK_SERIES))
    found = []
    for each in PROGRAMS:
        program = replace(each, **SHORT_HEAT) if each.name == "heat" else each
        if program.name in names:
            found.append(measure(kernel, program))
            print("\n".join(table(program, found[-1])), end="\n\n", flush=True)
    print("\n".join(means(found)))


def measure(kernel: Kernel, program: Measured) -> Found:
    """Make the copies, and run the program on the other input."""
    module = module_of(program)
    make(kernel.release, program, module)
    plain, laid_out = (folder_of(program) / name for name in (PLAIN, LAID_OUT))
    return Found(
        runs(kernel, program, plain, []),
        runs(kernel, program, plain, [module]),
        runs(kernel, program, laid_out, [module]),
        None,
    )


def module_of(program: Measured) -> Path:
    """The module with the copies."""
    return folder_of(program) / "copies.ko"


def make(release: str, program: Measured, module: Path) -> None:
    """Make the copies for the input on which the program is trained."""
    words = ["live", "layout", "--kernel", release, "-o", str(module), "--", *program.trained]
    folder = folder_of(program) / PLAIN
    subprocess.run([KADENCE, *words], cwd=folder, check=True, stdout=sys.stderr)


def runs(kernel: Kernel, program: Measured, folder: Path, modules: Sequence[Path]) -> Footprints:
    """Footprints of the program on the other input."""
    os.chdir(folder)
    functions = kernel.functions()
    counted = (count(kernel.release, program.measured, modules) for _ in range(RUNS))
    return [footprint(each, functions) for each in counted]


if __name__ == "__main__":
    main(sys.argv[1:])
