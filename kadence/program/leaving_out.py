# SPDX-License-Identifier: GPL-2.0-or-later
"""Which parts of a program's adaptation were left out, why, and what the user can do about it.

Each part is independent: if one fails, the report still has the others.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from kadence.base.errors import KadenceError
from kadence.base.terminal import tell

PHASE_CALLS = "some phases' calls"
SECOND_INPUT = "the second input"
NEEDS = "the needs of the program's helper processes"
PLAN = "the plan, and all that depends on it"
LAYOUT = "the layout of the program's code"
ADAPTED_PROGRAM = "the adapted program"
KERNELS = "all kernels but this machine's own"
TAILORED_KERNEL = "the tailored kernel"
CEILING = "the ceiling"
FLAGS = "the compiler flags"
OBSERVED = "the kernel's functions"

REMEDIES = {
    PHASE_CALLS: (
        "set run.profile to the command that the job will run, and run.validate to an input that "
        "does the same kinds of work; --force plans all phases nevertheless"
    ),
    SECOND_INPUT: (
        "correct run.validate: markers that were seen on one input only may fail on another"
    ),
    NEEDS: (
        "correct the error above; until then the kernel is tailored to the profiled process only"
    ),
    PLAN: "correct the error above; without a plan there is only the generic kernel",
    LAYOUT: 'correct the error above, or remove layout = "counts" from [plan] in kadence.toml',
    ADAPTED_PROGRAM: (
        "see the error above; if Kadence's adaptation caused it, setting plan.io or plan.memory to "
        '"off" in kadence.toml may show which part'
    ),
    KERNELS: "name a --target, and its kernels are built and measured nevertheless",
    TAILORED_KERNEL: (
        "make the check need less besides the program, or try `kadence kernel tailor` with a "
        "larger --budget"
    ),
    CEILING: "correct the error above; the rest of this report is valid without it",
    FLAGS: "correct the error above, or leave them out with --no-flags",
    OBSERVED: "correct the error above, or remove [observe] from kadence.toml",
}
OF_A_RUN = "read its output; the rest of this report is valid without it"


@dataclass(frozen=True)
class LeftOut:
    """A part that was left out."""

    part: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"Left out: {self.part}: {self.reason}. What to do: {self.remedy}."


@dataclass
class Parts:
    """Collects the parts that are left out."""

    left_out: list[LeftOut] = field(default_factory=list)

    def leave_out(self, part: str, reason: str) -> None:
        """Record the part, and tell the user at once."""
        entry = LeftOut(part, reason, REMEDIES[part])
        self.left_out.append(entry)
        tell(str(entry))

    def attempt(self, part: str, action: Callable[[], str]) -> str:
        """Return the key of the stage; on an error leave out this part only, and return no key."""
        try:
            return action()
        except KadenceError as error:
            self.leave_out(part, error.reason)
            return ""
