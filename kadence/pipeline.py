# SPDX-License-Identifier: GPL-2.0-or-later
"""From a program's folder to what can be measured: two builds, and kernels to run them on."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from kadence import resources, tasks
from kadence.boot import processors
from kadence.kconfig import background, series, targets
from kadence.kconfig.background import Background
from kadence.kconfig.build import BuildRequest
from kadence.kconfig.store import Kernel
from kadence.line import Line
from kadence.measure import ADAPTED, GENERIC, PLAIN, TAILORED
from kadence.places import Places
from kadence.program import Program
from kadence.proof import Proof
from kadence.proving import Subject
from kadence.stages import Stages, fingerprint, tell
from kadence.tailoring import DEFAULT_BUDGET, Tailoring


@dataclass(frozen=True)
class Prepared:
    """All that measuring needs."""

    program: Program
    places: Places
    kernels: dict[str, Kernel]  # GENERIC, and TAILORED where one was proven
    proof: Proof
    key: str  # changes when anything that could change a measurement does


@dataclass(frozen=True)
class Wish:
    """What kernel is wanted for the program."""

    target: str = targets.DEFAULT
    series: str = series.DEFAULT
    trace: Path | None = None
    budget: int = DEFAULT_BUDGET
    mitigations: bool = False
    force: bool = False  # plan whatever another input says
    overrides: tuple[tuple[str, str], ...] = ()  # above all rules, unless a repair needs otherwise


def prepare(described: Program, places: Places, stages: Stages, wish: Wish) -> Prepared:
    """Do every stage before measuring, or find it done; what needs none of them begins at once."""
    request = BuildRequest(kind=GENERIC, target=wish.target, series=wish.series)
    with background.building(request) as generic:
        return _prepare(described, places, stages, wish, generic)


def _prepare(
    described: Program, places: Places, stages: Stages, wish: Wish, generic: Background
) -> Prepared:
    line = Line(described, places, stages)
    source_key = line.copied()
    plain_key = line.built(PLAIN, source_key, None)
    line.tried(plain_key)
    plan_key = line.planned(plain_key, wish.force, generic.kernel)
    adapted_key = line.built(ADAPTED, source_key, places.artefact("plan.json"), plan_key)
    tell("kernels …")
    kernels, proof = _kernels(
        described, places, wish, generic.kernel(), f"{plain_key} {adapted_key}"
    )
    ids = [kernel.id for kernel in kernels.values()]
    key = " ".join([plain_key, adapted_key, *ids, repr(proof), str(_at_once(places, wish.target))])
    return Prepared(described, places, kernels, proof, key)


def _kernels(
    described: Program, places: Places, wish: Wish, generic: Kernel, builds_key: str
) -> tuple[dict[str, Kernel], Proof]:
    """The generic kernel, and the tailored one where it serves the program."""
    request = BuildRequest(
        kind=TAILORED,
        plan=places.artefact("plan.json"),
        target=wish.target,
        series=wish.series,
        trace=wish.trace,
        mitigations=wish.mitigations,
        overrides=wish.overrides,
    )
    tailored = Tailoring(
        request=request,
        generic=generic,
        subject=Subject(
            program=described,
            folders={mode: places.build(mode) for mode in (PLAIN, ADAPTED)},
            scratch=places.output / "proof",
            key=_proof_key(described, generic, f"{builds_key} {_at_once(places, wish.target)}"),
            tasks=tasks.of_plan(places.artefact("plan.json"), wish.target),
        ),
        budget=wish.budget,
        command=["kadence", "kernel", "tailor", str(described.folder), *request.options()],
    ).tailor()
    kernels = {GENERIC: generic}
    if tailored.kernel is not None:
        kernels[TAILORED] = tailored.kernel
    return kernels, tailored.proof


def _at_once(places: Places, target: str) -> int:
    """Tasks of the program that a guest on this machine can run at once."""
    return min(tasks.of_plan(places.artefact("plan.json"), target), processors.usable())


def _proof_key(described: Program, generic: Kernel, builds_key: str) -> str:
    """Of all that a proof rests on but the kernel itself."""
    judged = (
        *(described.check, described.run, described.standard_input, described.outputs),
        *(described.environment, described.filters),
    )
    parts = [builds_key, generic.id, repr(judged), fingerprint(resources.built("boot"))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
