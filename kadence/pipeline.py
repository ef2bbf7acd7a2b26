# SPDX-License-Identifier: GPL-2.0-or-later
"""From a program's folder to what can be measured: two builds, and kernels to run them on."""

import hashlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from kadence import proof, resources, tasks
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
    kernels: dict[str, Kernel]  # GENERIC, and TAILORED where one was proven; or none at all
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


# Says which target the kernels are for, from the keys of the plain build and of its phases; None
# for no kernel at all.
Decide = Callable[[str, str], str | None]


class _Generic:
    """The generic kernel, begun at once, or when it is decided for which target, if for any."""

    def __init__(self, wish: Wish, decide: Decide | None, beside: ExitStack) -> None:
        self.wish = wish
        self._decide, self._beside = decide, beside
        self._begun: Background | None = None

    def begin(self) -> Background:
        """Begin to build it; what is not finished when the context ends is given up."""
        if self._begun is None:
            request = BuildRequest(kind=GENERIC, target=self.wish.target, series=self.wish.series)
            self._begun = self._beside.enter_context(background.building(request))
        return self._begun

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

    The generic kernel needs nothing of the program: it begins `at_once`, unless it is to be decided
    first whether any kernel is built.
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
    adapted_key = line.built(ADAPTED, source_key, places.artefact("plan.json"), plan_key)
    builds_key = f"{plain_key} {adapted_key}"
    if kernel is None:
        unproven = proof.unbuilt(described.name, described.run, described.check)
        return Prepared(described, places, {}, unproven, builds_key)
    wish = generic.wish
    tell("kernels …")
    kernels, proven = _kernels(described, places, wish, kernel, builds_key)
    ids = [kernel.id for kernel in kernels.values()]
    key = " ".join([plain_key, adapted_key, *ids, repr(proven), str(_at_once(places, wish.target))])
    return Prepared(described, places, kernels, proven, key)


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
