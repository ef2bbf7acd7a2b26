# SPDX-License-Identifier: GPL-2.0-or-later
"""Predicts how long a program will take on another kernel, from its profile.

The prediction adds the program's own computing, as timed on this machine's own kernel, and its
demands of the kernel, at the prices of both kernels (docs/predict.md).
"""

from dataclasses import dataclass

from kadence.boot import costs
from kadence.boot.costs import Costs
from kadence.prediction.demand import Demand, Item

# Above this factor Kadence does not choose another kernel unless the user asks for it.
BOUND = 1.5
# A guest's start takes as long, so a smaller loss does not matter. A run that short shows the cost
# of its own start rather than of its work.
LEAST_LOSS_SECONDS = 0.1
# A guess for a run that was not timed: those of docs/results/bench-predict.txt do 1e9 to 5e9.
INSTRUCTIONS_PER_SECOND = 3e9
NANOSECONDS = 1e9
TITLES = {"um": "User-Mode Linux", "x86_64": "an x86_64 kernel in QEMU"}


@dataclass(frozen=True)
class Timed:
    """The time of the profiled run on this machine's own kernel."""

    seconds: float  # from its start to its end
    processor_seconds: float  # of all its threads and processes
    measured: bool = True

    @staticmethod
    def guessed(demand: Demand, own: Costs) -> "Timed":
        """Guess from the instructions, and from the kernel's charges for calls and faults."""
        seconds = demand.instructions / INSTRUCTIONS_PER_SECOND
        seconds += charged(demand, own, adapted=False)
        return Timed(seconds, seconds, measured=False)


@dataclass(frozen=True)
class Prediction:
    """The prediction for one target."""

    target: str
    known: str  # how the costs there are known: measured or estimated
    accelerator: str
    here: Timed
    plain: float  # seconds
    adapted: float  # seconds, with the plan

    @property
    def factor(self) -> float:
        """The adapted program's time there, as a multiple of the plain one's here."""
        return self.adapted / self.here.seconds

    @property
    def plain_factor(self) -> float:
        return self.plain / self.here.seconds

    @property
    def loss(self) -> float:
        """The seconds that the adapted program loses there."""
        return self.adapted - self.here.seconds

    @property
    def is_slow(self) -> bool:
        """Whether the user should know before a kernel is built."""
        return self.factor > BOUND and self.loss > LEAST_LOSS_SECONDS

    @property
    def is_short(self) -> bool:
        """Whether the run shows a program's start rather than its work."""
        return self.factor > BOUND and not self.is_slow


def predict(demand: Demand, here: Timed, own: Costs, there: Costs, target: str) -> Prediction:
    """Predict from given costs. On User-Mode Linux, all threads share one processor."""
    base = max(here.seconds, here.processor_seconds) if target == "um" else here.seconds
    # Prices are never exact: the computed cost of the calls here may exceed the whole run.
    computing = max(base * slowdown(own, there) - charged(demand, own, adapted=False), 0.0)
    plain, adapted = (
        computing + charged(demand, there, adapted=planned) for planned in (False, True)
    )
    return Prediction(target, there.known, there.accelerator, here, plain, adapted)


def slowdown(own: Costs, there: Costs) -> float:
    """The slowdown of computing: emulated processors are slower, others are the machine's own."""
    if there.accelerator not in ("tcg", "icount"):
        return 1.0
    return there.of(costs.COMPUTE) / own.of(costs.COMPUTE)


def charged(demand: Demand, kernel: Costs, *, adapted: bool) -> float:
    """Seconds that a kernel takes for the whole demand."""
    return sum(item.nanoseconds(kernel, adapted=adapted) for item in demand.items) / NANOSECONDS


def share(item: Item, own: Costs, there: Costs, predicted: Prediction) -> float:
    """The share of the adapted run there that an item takes as far as the plan leaves it."""
    if not item.count:
        return 0.0
    left = item.nanoseconds(there, adapted=False) * item.left / item.count
    return left / NANOSECONDS / max(predicted.adapted, 1e-9)


def sentence(predicted: Prediction, demand: Demand) -> str:
    """The prediction in one line for the user."""
    if predicted.is_short:
        return (
            f"{TITLES[predicted.target]} will take {predicted.loss:.2f} s more than this machine's"
            f" own kernel for a profiled run of {predicted.here.seconds:.3f} s, too short to judge"
        )
    how = "" if predicted.known == costs.MEASURED else ", estimated without a kernel"
    guess = "" if predicted.here.measured else ", guessed from its instructions"
    on = "" if predicted.accelerator == "native" else f" ({predicted.accelerator.upper()})"
    return (
        f"{TITLES[predicted.target]}{on} will take {_times(predicted.factor)} the time of this "
        f"machine's own kernel ({_times(predicted.plain_factor)} without the plan{how}): "
        f"{demand.calls:,} system calls and {demand.faults:,} page faults in "
        f"{predicted.here.seconds:.2f} s{guess}"
    )


def _times(factor: float) -> str:
    return f"{factor:.1f} times" if factor < 100 else f"{factor:,.0f} times"
