# SPDX-License-Identifier: GPL-2.0-or-later
"""A program whose calls, page faults and waiting are known (known.c), and its phases."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from kadence.phases import analysis
from kadence.profiler.run import runner

SOURCE = Path(__file__).parent / "known.c"
CALLS, PAGES, NAPS = 100_000, 20_000, 30
NAP_SECONDS = 0.01


@dataclass(frozen=True)
class Known:
    """The program, and its phases artefact."""

    program: Path
    phases: Path


def make(place: Path) -> Known:
    """Compile the program, profile it, and find its phases."""
    found = Known(place / "known", place / "known.phases.json")
    sizes = [f"-DCALLS={CALLS}", f"-DPAGES={PAGES}", f"-DNAPS={NAPS}"]
    command = ["gcc-12", "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-g", *sizes]
    subprocess.run([*command, "-o", found.program, SOURCE], check=True)
    profile = place / "known.kprof"
    runner.profile([str(found.program)], profile)
    analysis.run(profile, found.phases)
    return found
