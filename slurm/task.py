# SPDX-License-Identifier: GPL-2.0-or-later
"""A task, read from the environment variables that Slurm 22.05 sets for every task."""

from collections.abc import Mapping
from dataclasses import dataclass

MIB = 1 << 20
# kadence-step (node/step.cc) sets these for kadence.slurm.step; commands do not see them.
COMMAND = "KADENCE_STEP_COMMAND"
PROGRAM = "KADENCE_STEP_PROGRAM"
JOB = "KADENCE_JOB"
STEP = "KADENCE_STEP"
OWN = frozenset({COMMAND, PROGRAM, JOB, STEP, "KADENCE_PROBLEM", "KADENCE_STEP_FALLBACK"})


@dataclass(frozen=True)
class Task:
    """One task of a step."""

    step: str
    number: int  # in the step
    nodes: int  # of the step, as the next field
    tasks: int
    processors: int  # that the task asked for
    memory_bytes: int | None  # the step's limit on this node; None: it has none

    def is_first(self) -> bool:
        """Whether this task prints the messages of its step."""
        return self.number == 0

    def too_large(self) -> str | None:
        """Why a guest of User-Mode Linux, with one processor, cannot serve the step, or None."""
        sizes = ((self.nodes, "nodes"), (self.tasks, "tasks"), (self.processors, "processors"))
        for count, what in sizes:
            if count > 1:
                return f"a step on {count} {what} is too large for target um, which has one"
        return None


def of(environment: Mapping[str, str]) -> Task:
    """The task that has this environment. If the step sets no variable, the job's counts."""

    def number(default: int, *names: str) -> int:
        texts = (environment.get(name, "") for name in names)
        return next((int(text) for text in texts if text.isdecimal()), default)

    return Task(
        step=environment.get(STEP) or environment.get("SLURM_STEP_ID", "0"),
        number=number(0, "SLURM_PROCID"),
        nodes=number(1, "SLURM_STEP_NUM_NODES", "SLURM_NNODES"),
        tasks=number(1, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"),
        processors=number(1, "SLURM_CPUS_PER_TASK"),
        memory_bytes=_memory(
            number(0, "SLURM_MEM_PER_NODE"),
            number(0, "SLURM_MEM_PER_CPU") * number(1, "SLURM_CPUS_ON_NODE"),
        ),
    )


def _memory(per_node_mib: int, by_processors_mib: int) -> int | None:
    """Slurm sets at most one of the two; 0 means all of the node's memory."""
    return (per_node_mib or by_processors_mib) * MIB or None
