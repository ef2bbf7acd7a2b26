# SPDX-License-Identifier: GPL-2.0-or-later
"""A task as Slurm describes it to itself: environment variables of 22.05, set for every task."""

from collections.abc import Mapping
from dataclasses import dataclass

MIB = 1 << 20
# What kadence-step hands to kadence.slurm.step (node/step.cc); no command sees them.
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
    nodes: int  # of the step, as the next one
    tasks: int
    processors: int  # that the task asked for
    memory_bytes: int | None  # that the step has on this node; None: no limit of its own

    def is_first(self) -> bool:
        """Whether it speaks for its step."""
        return self.number == 0

    def too_large(self) -> str | None:
        """Why no guest of User-Mode Linux, which has one processor, can serve the step."""
        sizes = ((self.nodes, "nodes"), (self.tasks, "tasks"), (self.processors, "processors"))
        for count, what in sizes:
            if count > 1:
                return f"a step on {count} {what} is too large for target um, which has one"
        return None


def of(environment: Mapping[str, str]) -> Task:
    """The task that has this environment; what a step does not say is what its job says."""

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
    """Slurm names at most one of the two; 0 of it means all the node has."""
    return (per_node_mib or by_processors_mib) * MIB or None
