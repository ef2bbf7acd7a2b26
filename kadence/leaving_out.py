# SPDX-License-Identifier: GPL-2.0-or-later
"""What of a program's adaptation was left out, why, and what its user could do about it.

Each part stands by itself: what one lacks does not keep the others from the report.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from kadence.errors import KadenceError
from kadence.stages import tell

PHASE_CALLS = "some phases' calls"
SECOND_INPUT = "the second input"
NEEDS = "what helpers of the program need"
PLAN = "the plan, and what rests on it"
ADAPTED_PROGRAM = "the adapted program"
KERNELS = "all kernels but this machine's own"
TAILORED_KERNEL = "the tailored kernel"

REMEDIES = {
    PHASE_CALLS: (
        "let run.profile be what the job will run, and run.validate an input that does the same "
        "kinds of work; --force plans all of it as it is"
    ),
    SECOND_INPUT: (
        "mend run.validate: markers that were seen on one input alone may fail on another"
    ),
    NEEDS: (
        "mend what is said above; until then a kernel is fitted to what the profiled process asks "
        "for alone"
    ),
    PLAN: "mend what is said above; without a plan there is the generic kernel alone",
    ADAPTED_PROGRAM: (
        'see what was said there; where it is Kadence\'s part, "off" for plan.io or plan.memory in '
        "kadence.toml may tell which"
    ),
    KERNELS: "name a --target, and its kernels are built and measured all the same",
    TAILORED_KERNEL: (
        "let the check need less beside the program, or try `kadence kernel tailor` with a larger "
        "--budget"
    ),
}
OF_A_RUN = "look at what it said; the rest of this report holds without it"


@dataclass(frozen=True)
class LeftOut:
    """One part."""

    part: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"Left out: {self.part}: {self.reason}. What to do: {self.remedy}."


@dataclass
class Parts:
    """Collects what is left out."""

    left_out: list[LeftOut] = field(default_factory=list)

    def leave_out(self, part: str, reason: str) -> None:
        """Note it, and say so at once."""
        entry = LeftOut(part, reason, REMEDIES[part])
        self.left_out.append(entry)
        tell(str(entry))

    def attempt(self, part: str, action: Callable[[], str]) -> str:
        """The key of what is made; none where an error costs this part, and nothing else."""
        try:
            return action()
        except KadenceError as error:
            self.leave_out(part, error.reason)
            return ""
