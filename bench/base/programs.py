# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that the benches tailor kernels to: traced, tailored and proven as for a user."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import ToolError
from kadence.base.stages import Stages, alone_in, fingerprint
from kadence.kconfig.store.build import BuildRequest
from kadence.kconfig.store.store import Kernel
from kadence.kernel.proof import Proof
from kadence.measurement.measure import PLAIN, TAILORED
from kadence.program import program
from kadence.program.places import Places
from kadence.program.program import Program
from kadence.specialize import pipeline
from kadence.specialize.line import Line
from kadence.specialize.pipeline import Wish

NAMES = ("heat", "lu", "ring", "minimap2")


class UnservedError(ToolError):
    """No tailored kernel was proven for a program."""


@dataclass(frozen=True)
class Served:
    """A kernel tailored to a program, with its proof."""

    kernel: Kernel
    proof: Proof
    plan: Path

    def told(self) -> str:
        """Returns one sentence on the proof."""
        files = ", ".join(sorted(self.proof.outputs))
        text = (
            f"Proof {self.proof.outcome}: check passes, and {files} of the plain and the adapted "
            "program are byte for byte those on the generic kernel"
        )
        mended = " ".join(f"{one.symbol}={one.value}" for one in self.proof.repairs)
        return f"{text}; put back: {mended}." if mended else f"{text}."


def served(name: str, target: str) -> Served:
    """Returns the kernel tailored to the program and proven on it."""
    output = _output(name)
    described = program.read(resources.home() / "examples" / name)
    places = Places(output, described.name)
    with alone_in(output):
        stages = Stages(output)
        wish = Wish(target=target, trace=_trace(described, places, stages))
        prepared = pipeline.prepare(described, places, stages, wish)
    if TAILORED not in prepared.kernels:
        raise UnservedError(f"no tailored {target} kernel serves {name}: {prepared.proof.reason}")
    return Served(prepared.kernels[TAILORED], prepared.proof, places.artefact("plan.json"))


@contextmanager
def line(name: str, output: Path) -> Iterator[Line]:
    """Yields the stages of an example, whose results are kept in the folder `output`."""
    described = program.read(resources.home() / "examples" / name)
    with alone_in(output):
        yield Line(described, Places(output, described.name), Stages(output))


def plain(line: Line) -> str:
    """Build the program plain. Returns the build's key."""
    return line.built(PLAIN, line.copied(), None)


def request(name: str, target: str) -> BuildRequest:
    """Returns the request before any repair."""
    places = Places(_output(name), name)
    plan, trace = places.artefact("plan.json"), places.artefact("ktrace.json")
    return BuildRequest(kind=TAILORED, plan=plan, target=target, trace=trace)


def _output(name: str) -> Path:
    return resources.home() / "build" / "bench" / "kernel" / name


def _trace(described: Program, places: Places, stages: Stages) -> Path:
    """Trace the kernel code that the program's profiled run uses. The trace serves both targets."""
    line = Line(described, places, stages)
    built = line.built(PLAIN, line.copied(), None)
    output = places.artefact("ktrace.json")
    code = fingerprint(resources.home() / "kconfig-gen" / "trace")
    stages.run(
        "trace",
        [built, described.profile, code],
        [output],
        lambda: _run_traced(described, places, output),
    )
    return output


def _run_traced(described: Program, places: Places, output: Path) -> None:
    command = [sys.executable, "-m", "kadence.cli", "kernel", "trace", "-o", str(output), "--"]
    folder = places.build(PLAIN)
    with (folder / (described.standard_input or "/dev/null")).open("rb") as stdin:
        done = subprocess.run(
            [*command, *described.profile],
            cwd=folder,
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            check=False,
        )
    if done.returncode:
        raise ToolError(f"{described.name} could not be traced (status {done.returncode})")
