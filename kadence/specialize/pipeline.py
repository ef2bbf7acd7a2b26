# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes all that is measured from a program's folder: two builds, and kernels to run them on."""

import hashlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import KadenceError, UsageError
from kadence.base.stages import Stages, fingerprint
from kadence.base.terminal import tell
from kadence.boot import processors
from kadence.kconfig.request import series, targets
from kadence.kconfig.store import background
from kadence.kconfig.store.background import Background
from kadence.kconfig.store.build import BuildRequest
from kadence.kconfig.store.store import Kernel
from kadence.kernel import proof
from kadence.kernel.positioning import positioned
from kadence.kernel.proof import Proof
from kadence.kernel.proving import Subject
from kadence.kernel.tailoring import DEFAULT_BUDGET, Tailoring
from kadence.measurement.measure import ADAPTED, GENERIC, PLAIN, TAILORED
from kadence.prediction import tasks
from kadence.program.leaving_out import TAILORED_KERNEL, LeftOut, Parts
from kadence.program.places import Places
from kadence.program.program import Program
from kadence.specialize.line import Line


@dataclass(frozen=True)
class Made:
    """The plan and the builds of a program, before there are kernels."""

    program: Program
    places: Places
    plan: Path | None
    modes: tuple[str, ...]  # PLAIN, and ADAPTED if that was built and its outputs agree
    key: str  # of the builds
    source_key: str = ""
    plain_key: str = ""

    @property
    def folders(self) -> dict[str, Path]:
        """The built copy of each mode."""
        return {mode: self.places.build(mode) for mode in self.modes}


@dataclass(frozen=True)
class Prepared:
    """All that measuring needs."""

    made: Made
    kernels: dict[str, Kernel]  # GENERIC, and TAILORED if one was proven; or none
    proof: Proof
    left_out: tuple[LeftOut, ...]
    key: str  # changes with anything that could change a measurement

    @property
    def program(self) -> Program:
        return self.made.program

    @property
    def places(self) -> Places:
        return self.made.places


@dataclass(frozen=True)
class Wish:
    """The kernel that the user wants for the program."""

    target: str = targets.DEFAULT
    series: str = series.DEFAULT
    trace: Path | None = None
    budget: int = DEFAULT_BUDGET
    mitigations: bool = False
    force: bool = False  # plan even if the second input forbids it
    overrides: tuple[tuple[str, str], ...] = ()  # stronger than rules, weaker than repairs
    units: tuple[Path, ...] = ()  # sources of those that the kernels contain
    layout: Path | None = None  # counts by which the tailored kernel is laid out


# Takes the keys of the plain build and of its phases, and returns the kernels' target; None if no
# kernel is to be built.
Decide = Callable[[str, str], str | None]


class _Generic:
    """The generic kernel; its build may begin before its target, or its need, is decided."""

    def __init__(self, wish: Wish, decide: Decide | None, beside: ExitStack) -> None:
        self.wish = wish
        self._decide, self._beside = decide, beside
        self._begun: dict[BuildRequest, Background] = {}

    def begin(self) -> Background:
        """Begin to build the kernel; the end of the context stops an unfinished build."""
        wish = self.wish
        request = BuildRequest(
            kind=GENERIC, target=wish.target, series=wish.series, units=wish.units
        )
        if request not in self._begun:
            self._begun[request] = self._beside.enter_context(background.building(request))
        return self._begun[request]

    def kernel(self, plain_key: str, phases_key: str) -> Kernel | None:
        """Wait for the kernel; None if it was decided to build none."""
        if self._decide is not None:
            target = self._decide(plain_key, phases_key)
            if target is None:
                return None
            self.wish = replace(self.wish, target=target)
        return self.begin().kernel()


def prepare(
    described: Program,
    places: Places,
    stages: Stages,
    wish: Wish,
    decide: Decide | None = None,
    *,
    at_once: bool = True,
) -> Prepared:
    """Do every stage before measuring that is not already done.

    The generic kernel does not depend on the program, so with `at_once` its build begins at once
    and runs while the program is profiled. That build is stopped if `decide` chooses no kernel or
    another target.
    """
    line = Line(described, places, stages)
    wish = replace(wish, units=described.unit_sources)
    with ExitStack() as beside:
        generic = _Generic(wish, decide, beside)
        if at_once:
            generic.begin()
        source_key = line.copied()
        plain_key = line.built(PLAIN, source_key, None)
        line.tried(plain_key)
        counted_key = line.counted(source_key)
        plan_key, kernel = line.planned(plain_key, wish.force, generic.kernel, counted_key)
    adapted_key = line.adapted(source_key, plan_key)
    made = Made(
        described,
        places,
        places.artefact("plan.json") if plan_key else None,
        (PLAIN, ADAPTED) if adapted_key else (PLAIN,),
        f"{plain_key} {adapted_key}",
        source_key,
        plain_key,
    )
    return _prepared(made, generic.wish, kernel, line.parts)


def _prepared(made: Made, wish: Wish, generic: Kernel | None, parts: Parts) -> Prepared:
    described = made.program
    if generic is None:
        unproven = proof.unbuilt(described.name, described.run, described.check)
        return Prepared(made, {}, unproven, tuple(parts.left_out), f"{made.key} {parts.left_out!r}")
    tell("kernels …")
    kernels, proven = _kernels(made, wish, generic)
    if proven.outcome == proof.FAILED:
        parts.leave_out(TAILORED_KERNEL, proven.reason)
    left_out = tuple(parts.left_out)
    ids = [kernel.id for kernel in kernels.values()]
    rest = [repr(proven), repr(left_out), str(_at_once(made, wish.target))]
    return Prepared(made, kernels, proven, left_out, " ".join([made.key, *ids, *rest]))


def _kernels(made: Made, wish: Wish, generic: Kernel) -> tuple[dict[str, Kernel], Proof]:
    """The generic kernel, and the tailored one if it serves the program."""
    kernels = {GENERIC: generic}
    try:
        tailoring = _tailoring(made, wish, generic)
        tailored = tailoring.tailor()
        if wish.layout is not None:
            tailored = positioned(tailoring, tailored, wish.layout)
    except KadenceError as error:
        program = made.program
        return kernels, proof.failed(program.name, program.run, program.check, error.reason)
    if tailored.kernel is not None:
        kernels[TAILORED] = tailored.kernel
    return kernels, tailored.proof


def _tailoring(made: Made, wish: Wish, generic: Kernel) -> Tailoring:
    if made.plan is None:
        raise UsageError("without a plan the program's needs are unknown")
    request = BuildRequest(
        kind=TAILORED,
        plan=made.plan,
        target=wish.target,
        series=wish.series,
        trace=wish.trace,
        mitigations=wish.mitigations,
        overrides=wish.overrides,
        units=wish.units,
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
    """The checksum of all that a proof depends on, except the kernel itself."""
    judged = (
        *(described.check, described.run, described.standard_input, described.outputs),
        *(described.environment, described.filters),
    )
    parts = [builds_key, generic.id, repr(judged), fingerprint(resources.built("boot"))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
