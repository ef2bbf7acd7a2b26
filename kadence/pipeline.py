# SPDX-License-Identifier: GPL-2.0-or-later
"""From a program's folder to what can be measured: two builds, and kernels to run them on."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from kadence import resources, tasks
from kadence.boot import processors
from kadence.errors import KadenceError, UsageError
from kadence.kconfig import background, series, targets
from kadence.kconfig.background import Background
from kadence.kconfig.build import BuildRequest
from kadence.kconfig.store import Kernel
from kadence.leaving_out import TAILORED_KERNEL, LeftOut
from kadence.line import Line
from kadence.measure import ADAPTED, GENERIC, PLAIN, TAILORED
from kadence.places import Places
from kadence.program import Program
from kadence.proof import FAILED, Proof, failed
from kadence.proving import Subject
from kadence.stages import Stages, fingerprint, tell
from kadence.tailoring import DEFAULT_BUDGET, Tailoring


@dataclass(frozen=True)
class Made:
    """What there is of a program before kernels are thought of."""

    program: Program
    places: Places
    plan: Path | None
    modes: tuple[str, ...]  # PLAIN, and ADAPTED where that could be built and runs alike
    key: str  # of the builds

    @property
    def folders(self) -> dict[str, Path]:
        """The built copy of each mode."""
        return {mode: self.places.build(mode) for mode in self.modes}


@dataclass(frozen=True)
class Prepared:
    """All that measuring needs."""

    made: Made
    kernels: dict[str, Kernel]  # GENERIC, and TAILORED where one was proven
    proof: Proof
    left_out: tuple[LeftOut, ...]
    key: str  # changes when anything that could change a measurement does

    @property
    def program(self) -> Program:
        return self.made.program

    @property
    def places(self) -> Places:
        return self.made.places


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
    adapted_key = line.adapted(source_key, plan_key)
    made = Made(
        described,
        places,
        places.artefact("plan.json") if plan_key else None,
        (PLAIN, ADAPTED) if adapted_key else (PLAIN,),
        f"{plain_key} {adapted_key}",
    )
    tell("kernels …")
    kernels, proof = _kernels(made, wish, generic.kernel())
    if proof.outcome == FAILED:
        line.parts.leave_out(TAILORED_KERNEL, proof.reason)
    left_out = tuple(line.parts.left_out)
    ids = [kernel.id for kernel in kernels.values()]
    key = " ".join([made.key, *ids, repr(proof), repr(left_out), str(_at_once(made, wish.target))])
    return Prepared(made, kernels, proof, left_out, key)


def _kernels(made: Made, wish: Wish, generic: Kernel) -> tuple[dict[str, Kernel], Proof]:
    """The generic kernel, and the tailored one where it serves the program."""
    kernels = {GENERIC: generic}
    try:
        tailored = _tailoring(made, wish, generic).tailor()
    except KadenceError as error:
        program = made.program
        return kernels, failed(program.name, program.run, program.check, error.reason)
    if tailored.kernel is not None:
        kernels[TAILORED] = tailored.kernel
    return kernels, tailored.proof


def _tailoring(made: Made, wish: Wish, generic: Kernel) -> Tailoring:
    if made.plan is None:
        raise UsageError("without a plan nobody knows what the program needs of a kernel")
    request = BuildRequest(
        kind=TAILORED,
        plan=made.plan,
        target=wish.target,
        series=wish.series,
        trace=wish.trace,
        mitigations=wish.mitigations,
        overrides=wish.overrides,
    )
    described = made.program
    return Tailoring(
        request=request,
        generic=generic,
        subject=Subject(
            program=described,
            folders=made.folders,
            scratch=made.places.output / "proof",
            key=_proof_key(described, generic, f"{made.key} {_at_once(made, wish.target)}"),
            tasks=tasks.of_plan(made.plan, wish.target),
        ),
        budget=wish.budget,
        command=["kadence", "kernel", "tailor", str(described.folder), *request.options()],
    )


def _at_once(made: Made, target: str) -> int:
    """Tasks of the program that a guest on this machine can run at once."""
    return min(tasks.of_plan(made.plan, target), processors.usable())


def _proof_key(described: Program, generic: Kernel, builds_key: str) -> str:
    """Of all that a proof rests on but the kernel itself."""
    judged = (
        *(described.check, described.run, described.standard_input, described.outputs),
        *(described.environment, described.filters),
    )
    parts = [builds_key, generic.id, repr(judged), fingerprint(resources.built("boot"))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
