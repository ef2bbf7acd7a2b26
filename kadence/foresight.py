# SPDX-License-Identifier: GPL-2.0-or-later
"""What a program will meet on a target of this machine, told before anything is built for it.

`specialize` asks here after the profile: which target a user wants who named none, or none at all;
`plan` and `view` ask what the run would pay for what the plan leaves. Wherever costs can't be had,
nothing is foretold and nothing is stopped.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kadence import artefact, demand, execution, prediction, resources, unadapted
from kadence.boot import acceleration, costs, host
from kadence.boot.costs import Costs
from kadence.boot.session import TARGETS
from kadence.demand import Demand
from kadence.errors import KadenceError
from kadence.execution import Sample
from kadence.kconfig import series as kernel_series
from kadence.kconfig import store
from kadence.kconfig.request import GENERIC, MINIMAL
from kadence.kconfig.store import Kernel
from kadence.line import Line
from kadence.measure import PLAIN
from kadence.phases import document
from kadence.prediction import TITLES, Prediction, Timed
from kadence.stages import fingerprint, tell
from kadence.unadapted import Market

UM, X86_64 = TARGETS
TIMED_RUNS = 2
LEFT = "this machine's own kernel is left to it, and no other is built"
WAYS_ON = (
    "`--target um` builds one all the same; a job of Slurm's can run the adapted program under the "
    "node's own kernel, or a kernel in its place (targets module and kexec, docs/slurm.md)"
)

Body = dict[str, Any]


@dataclass(frozen=True)
class Foreseen:
    """Which target it comes to, and what a user is told."""

    target: str | None  # None: this machine's own kernel is left as it is
    sentence: str  # empty where nothing is known
    predictions: tuple[Prediction, ...]
    left: tuple[str, ...]  # by the plan, a sentence each


# ---- costs ---------------------------------------------------------------------------------------


def costs_of(
    target: str, series: str = kernel_series.DEFAULT, *, patient: bool = False
) -> Costs | None:
    """Of a kernel that is built already; of User-Mode Linux without one, as estimated.

    An emulated guest takes many seconds to measure: only for who is `patient`.
    """
    with suppress(KadenceError, OSError):
        if target != UM and not patient and acceleration.remembered() != acceleration.KVM:
            return None
        for kernel in _kernels(target, series):
            return costs.of_guest(kernel.image, kernel.id, target)
        return costs.estimated_um() if target == UM else None
    return None


def _kernels(target: str, series: str) -> Iterator[Kernel]:
    """Those that this Kadence would build, the quickest first."""
    for kind in (MINIMAL, GENERIC):
        with suppress(KadenceError):
            yield store.find(kind, target=target, series=series)


def market(
    asked: Demand, here: Timed | None, target: str, series: str, *, patient: bool = False
) -> Market | None:
    """The prices on both kernels and what the run comes to; None where they can't be had.

    Where nobody timed the run `here`, its time is guessed.
    """
    with suppress(KadenceError, OSError):
        own, there = costs.own(), costs_of(target, series, patient=patient)
        if there is not None:
            timed = here or Timed.guessed(asked, own)
            predicted = prediction.predict(asked, timed, own, there, target)
            return Market(own, there, predicted)
    return None


def of_plan(phases_path: Path, plan: Body) -> list[str]:
    """What `plan` and `view` say: the prediction, and what the plan leaves."""
    asked = _demand(phases_path, plan)
    if asked is None:
        return []
    found = market(asked, None, UM, kernel_series.DEFAULT)
    told = [] if found is None else [prediction.sentence(found.predicted, asked)]
    return [*told, *unadapted.sentences(asked, plan, found)]


def _demand(phases_path: Path, plan: Body) -> Demand | None:
    """None where the profile's backend saw nothing of the kernel."""
    raw = artefact.read(phases_path, artefact.PHASES)
    checked = document.parse(raw, phases_path)
    return demand.of(raw, checked, plan) if checked.backend.kernel_seen else None


# ---- the choice ----------------------------------------------------------------------------------


def foresee(asked: Demand, here: Timed, plan: Body, wanted: str | None, series: str) -> Foreseen:
    """For the target that was asked for, else for those that work here."""
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
    """The target and the sentence; the first prediction is of the usual target."""
    first = found[0]
    told = prediction.sentence(first, asked)
    if wanted is not None or not first.is_slow:
        return first.target, told
    told += f", more than the {prediction.BOUND:g} that are taken for granted"
    better = [each for each in found[1:] if not each.is_slow]
    if better:
        factor = f"{better[0].factor:.1f} times"
        return better[0].target, f"{told}; {TITLES[better[0].target]} is taken instead ({factor})"
    return None, f"{told}; {LEFT}: {WAYS_ON}"


# ---- as a stage ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Foresight:
    """The stage of `specialize` between phases and kernels."""

    line: Line
    force: bool  # plan whatever another input says
    wanted: str | None  # the target that was asked for
    usual: str  # the first that works here
    series: str

    def __call__(self, plain_key: str, phases_key: str) -> str | None:
        """The target, or None for none; tells why."""
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
        found = artefact.read(place, artefact.PREDICTION)
        if found["sentence"]:
            tell(found["sentence"])
        target = found["target"]
        return None if target is None else str(target)

    def _write(self, place: Path, wanted: str | None) -> None:
        phases_path = self.line.places.artefact("phases.json")
        asked, plan = None, {}
        # Without a plan nothing is foretold; that there is none is told where it is made.
        with TemporaryDirectory(prefix="kadence-predict-") as scratch, suppress(KadenceError):
            plan = self.line.plan(Path(scratch) / "plan.json", self.force)
            asked = _demand(phases_path, plan)
        if asked is None:
            found, here = Foreseen(wanted or UM, "", (), ()), Timed(0, 0)
        else:
            here = self._timed()
            found = foresee(asked, here, plan, wanted, self.series)
        build_id = artefact.read(phases_path, artefact.PHASES)["build_id"]
        command = ["kadence", "specialize", str(self.line.program.folder)]
        artefact.write(place, artefact.PREDICTION, build_id, command, _body(found, here))

    def _timed(self) -> Timed:
        """The quickest of some runs of what was profiled."""
        scratch = self.line.places.output / "scratch"
        scratch.mkdir(exist_ok=True)
        runs = [self._run(scratch) for _ in range(TIMED_RUNS)]
        best = min(runs, key=lambda sample: sample.program_seconds)
        return Timed(best.program_seconds, best.user_seconds + best.system_seconds)

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
    """What decides on a prediction beside the program."""
    for module in (costs, demand, prediction, unadapted):
        yield fingerprint(Path(str(module.__file__)))
    yield fingerprint(Path(__file__))
    yield fingerprint(resources.built("boot/costs"))


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
