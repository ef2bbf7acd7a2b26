# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that kernels are tailored to here, and those kernels."""

from pathlib import Path

from kadence import pipeline, program, resources
from kadence.kconfig.build import BuildRequest, build
from kadence.kconfig.request import TAILORED
from kadence.kconfig.store import Kernel
from kadence.measure import PLAIN
from kadence.stages import Stages, alone_in

NAMES = ("heat", "lu", "ring", "minimap2")


def folder(name: str) -> Path:
    """Where a program's artefacts are made."""
    return resources.home() / "build" / "bench" / "kernel" / name


def plan(name: str) -> Path:
    """The program's plan, made as `kadence specialize` makes it."""
    output = folder(name)
    with alone_in(output):
        described = program.read(resources.home() / "examples" / name)
        places = pipeline.Places(output, described.name)
        line = pipeline.Line(described, places, Stages(output))
        line.planned(line.phased(line.profiled(line.built(PLAIN, line.copied(), None))))
        return places.artefact("plan.json")


def kernel(name: str, target: str) -> Kernel:
    """The kernel tailored to the program, built if need be."""
    return build(BuildRequest(kind=TAILORED, plan=plan(name), target=target))
