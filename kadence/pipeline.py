# SPDX-License-Identifier: GPL-2.0-or-later
"""From a program's folder to what can be measured: two builds, and kernels to run them on."""

import hashlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from kadence import proof, resources, tasks
from kadence.boot import processors
from kadence.errors import KadenceError, UsageError
from kadence.kconfig import background, series, targets
from kadence.kconfig.background import Background
from kadence.kconfig.build import BuildRequest
from kadence.kconfig.store import Kernel
from kadence.leaving_out import TAILORED_KERNEL, LeftOut, Parts
from kadence.line import Line
from kadence.measure import ADAPTED, GENERIC, PLAIN, TAILORED
from kadence.places import Places
from kadence.program import Program
from kadence.proof import Proof
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
    kernels: dict[str, Kernel]  # GENERIC, and TAILORED where one was proven; or none at all
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


# Says which target the kernels are for, from the keys of the plain build and of its phases; None
# for no kernel at all.
Decide = Callable[[str, str], str | None]


class _Generic:
    """The generic kernel, begun before it is decided for which target it is, if for any."""

    def __init__(self, wish: Wish, decide: Decide | None, beside: ExitStack) -> None:
        self.wish = wish
        self._decide, self._beside = decide, beside
        self._begun: dict[BuildRequest, Background] = {}

    def begin(self) -> Background:
        """Begin to build it; what is not finished when the context ends is given up."""
        request = BuildRequest(kind=GENERIC, target=self.wish.target, series=self.wish.series)
        if request not in self._begun:
            self._begun[request] = self._beside.enter_context(background.building(request))
        return self._begun[request]

    def kernel(self, plain_key: str, phases_key: str) -> Kernel | None:
        """Wait for it; None where there is to be none."""
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
    """Do every stage before measuring, or find it done.

    The generic kernel needs nothing of the program, so it begins `at_once`, beside the profile.
    Where it is decided that none is built, or one for another target, what was begun is given up.
    """
    line = Line(described, places, stages)
    with ExitStack() as beside:
        generic = _Generic(wish, decide, beside)
        if at_once:
            generic.begin()
        source_key = line.copied()
        plain_key = line.built(PLAIN, source_key, None)
        line.tried(plain_key)
        plan_key, kernel = line.planned(plain_key, wish.force, generic.kernel)
    adapted_key = line.adapted(source_key, plan_key)
    made = Made(
        described,
        places,
        places.artefact("plan.json") if plan_key else None,
        (PLAIN, ADAPTED) if adapted_key else (PLAIN,),
        f"{plain_key} {adapted_key}",
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
    """The generic kernel, and the tailored one where it serves the program."""
    kernels = {GENERIC: generic}
    try:
        tailored = _tailoring(made, wish, generic).tailor()
    except KadenceError as error:
        program = made.program
        return kernels, proof.failed(program.name, program.run, program.check, error.reason)
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
