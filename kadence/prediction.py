# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a program will take on another kernel, told from its profile before it was ever there.

Its own computing, as on this machine's own kernel, and what it asks of the kernel at the prices of
both kernels (docs/predict.md).
"""

from dataclasses import dataclass

from kadence.boot import costs
from kadence.boot.costs import Costs
from kadence.demand import Demand, Item

# From here on a kernel of one's own is not what a user would want without being asked.
BOUND = 1.5
# A guest takes as long to start: what loses less has lost nothing by it, and a run so short tells
# of its own start more than of its work.
LEAST_LOSS_SECONDS = 0.1
# Where nobody has timed the run: those of docs/results/bench-predict.txt run 1 to 5 of them.
INSTRUCTIONS_PER_SECOND = 3e9
NANOSECONDS = 1e9
TITLES = {"um": "User-Mode Linux", "x86_64": "an x86_64 kernel in QEMU"}


@dataclass(frozen=True)
class Timed:
    """What the profiled run takes on this machine's own kernel."""

    seconds: float  # from its start to its end
    processor_seconds: float  # of all its threads and processes
    measured: bool = True

    @staticmethod
    def guessed(demand: Demand, own: Costs) -> "Timed":
        """From its instructions, and from what the kernel charges for its calls and faults."""
        seconds = demand.instructions / INSTRUCTIONS_PER_SECOND
        seconds += charged(demand, own, adapted=False)
        return Timed(seconds, seconds, measured=False)


@dataclass(frozen=True)
class Prediction:
    """For one target."""

    target: str
    known: str  # whether the costs there were measured or estimated
    accelerator: str
    here: Timed
    plain: float  # seconds
    adapted: float  # with what the plan does

    @property
    def factor(self) -> float:
        """The adapted program's time there, as a multiple of the plain one's here."""
        return self.adapted / self.here.seconds

    @property
    def plain_factor(self) -> float:
        return self.plain / self.here.seconds

    @property
    def loss(self) -> float:
        """Seconds."""
        return self.adapted - self.here.seconds

    @property
    def is_slow(self) -> bool:
        """Whether a user should be told before anything is built for it."""
        return self.factor > BOUND and self.loss > LEAST_LOSS_SECONDS

    @property
    def is_short(self) -> bool:
        """Whether the run says more of a program's start than of its work."""
        return self.factor > BOUND and not self.is_slow


def predict(demand: Demand, here: Timed, own: Costs, there: Costs, target: str) -> Prediction:
    """From given costs; the program's own threads share one processor on User-Mode Linux."""
    base = max(here.seconds, here.processor_seconds) if target == "um" else here.seconds
    # Prices are never exact: what the calls cost here may come out as more than the whole run.
    computing = max(base * slowdown(own, there) - charged(demand, own, adapted=False), 0.0)
    plain, adapted = (
        computing + charged(demand, there, adapted=planned) for planned in (False, True)
    )
    return Prediction(target, there.known, there.accelerator, here, plain, adapted)


def slowdown(own: Costs, there: Costs) -> float:
    """Of computing: emulated processors are slower, others are the machine's own."""
    if there.accelerator not in ("tcg", "icount"):
        return 1.0
    return there.of(costs.COMPUTE) / own.of(costs.COMPUTE)


def charged(demand: Demand, kernel: Costs, *, adapted: bool) -> float:
    """Seconds that a kernel takes for all that is asked of it."""
    return sum(item.nanoseconds(kernel, adapted=adapted) for item in demand.items) / NANOSECONDS


def share(item: Item, own: Costs, there: Costs, predicted: Prediction) -> float:
    """Of the adapted run there, what an item takes that the plan leaves."""
    if not item.count:
        return 0.0
    left = item.nanoseconds(there, adapted=False) * item.left / item.count
    return left / NANOSECONDS / max(predicted.adapted, 1e-9)


def sentence(predicted: Prediction, demand: Demand) -> str:
    """One line for people."""
    if predicted.is_short:
        return (
            f"{TITLES[predicted.target]} will take {predicted.loss:.2f} s more than this machine's"
            f" own kernel for a profiled run of {predicted.here.seconds:.3f} s, too short to tell"
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
