# SPDX-License-Identifier: GPL-2.0-or-later
"""Predicts a program's time on the targets of this machine, before a kernel is built for it.

After the profile, `specialize` asks this module which target to use, if any, unless the user named
one. `plan` and `view` ask for the cost of the work that the plan leaves unadapted. If the costs
cannot be determined, this module predicts nothing and stops nothing.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kadence.base import artefact, resources
from kadence.base.errors import KadenceError
from kadence.base.stages import fingerprint
from kadence.base.terminal import tell
from kadence.boot import acceleration, costs, host
from kadence.boot.costs import Costs
from kadence.boot.request import TARGETS
from kadence.kconfig.request import series as kernel_series
from kadence.kconfig.request.request import GENERIC, MINIMAL
from kadence.kconfig.store import store
from kadence.kconfig.store.store import Kernel
from kadence.measurement import execution
from kadence.measurement.execution import Sample
from kadence.measurement.measure import PLAIN
from kadence.phases.artefact import document
from kadence.prediction import demand, prediction, unadapted
from kadence.prediction.demand import Demand
from kadence.prediction.prediction import TITLES, Prediction, Timed
from kadence.prediction.unadapted import Market
from kadence.specialize.line import Line

UM, X86_64 = TARGETS
TIMED_RUNS = 2
LEFT = "the program stays on this machine's own kernel, and no other kernel is built"
WAYS_ON = (
    "`--target um` builds one nevertheless; a Slurm job can run the adapted program under the "
    "node's own kernel, or under one that replaces it (targets module and kexec, docs/slurm.md)"
)

Body = dict[str, Any]


@dataclass(frozen=True)
class Foreseen:
    """The chosen target, and the sentences for the user."""

    target: str | None  # None: the program stays on this machine's own kernel
    sentence: str  # empty if nothing is known
    predictions: tuple[Prediction, ...]
    left: tuple[str, ...]  # what the plan leaves unadapted, one sentence each


# ---- costs ---------------------------------------------------------------------------------------


def costs_of(
    target: str, series: str = kernel_series.DEFAULT, *, patient: bool = False
) -> Costs | None:
    """The costs of a kernel that is already built; without one, an estimate for User-Mode Linux.

    Measuring an emulated guest takes many seconds, so that happens only if `patient` is true.
    """
    with suppress(KadenceError, OSError):
        if target != UM and not patient and acceleration.remembered() != acceleration.KVM:
            return None
        for kernel in _kernels(target, series):
            return costs.of_guest(kernel.image, kernel.id, target)
        return costs.estimated_um() if target == UM else None
    return None


def _kernels(target: str, series: str) -> Iterator[Kernel]:
    """The kernels that this version of Kadence would build, the quickest first."""
    for kind in (MINIMAL, GENERIC):
        with suppress(KadenceError):
            yield store.find(kind, target=target, series=series)


def market(
    asked: Demand, here: Timed | None, target: str, series: str, *, patient: bool = False
) -> Market | None:
    """The prices on both kernels and the predicted time; None if prices cannot be determined.

    Without a time `here`, the time on this machine is guessed.
    """
    with suppress(KadenceError, OSError):
        own, there = costs.own(), costs_of(target, series, patient=patient)
        if there is not None:
            timed = here or Timed.guessed(asked, own)
            predicted = prediction.predict(asked, timed, own, there, target)
            return Market(own, there, predicted)
    return None


def of_plan(phases_path: Path, plan: Body, here: Timed | None = None) -> list[str]:
    """The sentences of `plan` and `view`: the prediction, and what the plan leaves unadapted."""
    asked = _demand(phases_path, plan)
    if asked is None:
        return []
    found = market(asked, here, UM, kernel_series.DEFAULT)
    told = [] if found is None else [prediction.sentence(found.predicted, asked)]
    return [*told, *unadapted.sentences(asked, plan, found)]


def _demand(phases_path: Path, plan: Body, output_bytes: int = 0) -> Demand | None:
    """The demand of a run; None if the profile's backend cannot see the kernel."""
    checked = document.load(phases_path)
    if not checked.backend.kernel_seen:
        return None
    return demand.of(checked, plan, output_bytes)


# ---- the choice ----------------------------------------------------------------------------------


def foresee(asked: Demand, here: Timed, plan: Body, wanted: str | None, series: str) -> Foreseen:
    """Predict for the wanted target; without one, for the targets that work here."""
    target = wanted or UM
    first = market(asked, here, target, series, patient=wanted is not None)
    left = tuple(unadapted.sentences(asked, plan, first))
    if first is None:
        return Foreseen(target, "", (), left)
    found = [first.predicted]
    if wanted is None and first.predicted.is_slow and host.obstacle(X86_64) is None:
        second = market(asked, here, X86_64, series)
        found += [second.predicted] if second else []
    chosen, sentence = choose(found, asked, wanted)
    return Foreseen(chosen, sentence, tuple(found), left)


def choose(found: list[Prediction], asked: Demand, wanted: str | None) -> tuple[str | None, str]:
    """Choose the target and its sentence; the first prediction is for the usual target."""
    first = found[0]
    told = prediction.sentence(first, asked)
    if wanted is not None or not first.is_slow:
        return first.target, told
    told += f", more than the accepted {prediction.BOUND:g} times"
    better = [each for each in found[1:] if not each.is_slow]
    if better:
        factor = f"{better[0].factor:.1f} times"
        return better[0].target, f"{told}; {TITLES[better[0].target]} is used instead ({factor})"
    return None, f"{told}; {LEFT}: {WAYS_ON}"


# ---- as a stage ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Foresight:
    """The stage of `specialize` between phases and kernels."""

    line: Line
    force: bool  # plan even if the second input forbids it
    wanted: str | None  # the target that the user named
    usual: str  # the first target that works here
    series: str

    def __call__(self, plain_key: str, phases_key: str) -> str | None:
        """Return the target, or None for none; print the reason."""
        place = self.line.places.artefact("prediction.json")
        wanted = self.wanted or (None if self.usual == UM else self.usual)
        program = self.line.program
        planned = (self.force, program.io, program.memory)
        ran = (program.profile, program.profile_input, program.environment)
        self.line.stages.run(
            "predict",
            [plain_key, phases_key, wanted, self.series, *planned, *ran, *_code()],
            [place],
            lambda: self._write(place, wanted),
        )
        found = artefact.load(_Prediction, place, artefact.PREDICTION)
        if found.sentence:
            tell(found.sentence)
        return found.target

    def _write(self, place: Path, wanted: str | None) -> None:
        phases_path = self.line.places.artefact("phases.json")
        asked, plan = None, {}
        # Without a plan there is no prediction. The plan's own stage reports why it failed.
        with TemporaryDirectory(prefix="kadence-predict-") as scratch, suppress(KadenceError):
            plan = self.line.plan(Path(scratch) / "plan.json", self.force)
            asked = _demand(phases_path, plan)
        if asked is None:
            found, here = Foreseen(wanted or UM, "", (), ()), Timed(0, 0)
        else:
            here, output_bytes = self._timed()
            asked = _demand(phases_path, plan, output_bytes) or asked
            found = foresee(asked, here, plan, wanted, self.series)
        build_id = artefact.load(artefact.Envelope, phases_path, artefact.PHASES).build_id
        command = ["kadence", "specialize", str(self.line.program.folder)]
        artefact.write(place, artefact.PREDICTION, build_id, command, _body(found, here))

    def _timed(self) -> tuple[Timed, int]:
        """The quickest of TIMED_RUNS runs of the profiled command, and its bytes of output."""
        scratch = self.line.places.output / "scratch"
        scratch.mkdir(exist_ok=True)
        runs = [self._run(scratch) for _ in range(TIMED_RUNS)]
        best = min(runs, key=lambda sample: sample.program_seconds)
        timed = Timed(best.program_seconds, best.user_seconds + best.system_seconds)
        return timed, (scratch / "stdout").stat().st_size

    def _run(self, scratch: Path) -> Sample:
        program = self.line.program
        return execution.run(
            program.profile,
            self.line.places.build(PLAIN),
            image=None,
            scratch=scratch,
            environment=execution.environment(program.environment),
            standard_input=program.profile_input,
            timeout_seconds=program.timeout_seconds,
        ).sample


def _code() -> Iterator[str]:
    """Fingerprints of the code that a prediction depends on."""
    for module in (costs, demand, prediction, unadapted):
        yield fingerprint(Path(str(module.__file__)))
    yield fingerprint(Path(__file__))
    yield fingerprint(resources.built("boot/costs"))


@dataclass(frozen=True)
class _Prediction:
    """What is read of the artefact."""

    target: str | None
    sentence: str


def _body(found: Foreseen, here: Timed) -> Body:
    return {
        "target": found.target,
        "sentence": found.sentence,
        "here": asdict(here),
        "bound": prediction.BOUND,
        "targets": [
            {
                "target": each.target,
                "costs": each.known,
                "accelerator": each.accelerator,
                "plain_seconds": round(each.plain, 6),
                "adapted_seconds": round(each.adapted, 6),
                "plain_factor": round(each.plain_factor, 3),
                "factor": round(each.factor, 3),
                "slow": each.is_slow,
            }
            for each in found.predictions
        ],
        "left": list(found.left),
    }
