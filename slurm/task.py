# SPDX-License-Identifier: GPL-2.0-or-later
"""A task, read from the environment variables that Slurm 22.05 sets for every task."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kadence.base import artefact

MIB = 1 << 20
# kadence-step (node/step/step.cc) sets these for kadence.slurm.step; commands do not see them.
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


@dataclass(frozen=True)
class Step:
    """A task, and the decisions of its job on this node."""

    task: Task
    command: list[str]  # as Slurm was given it
    program: str  # to be run in its place on the bundle's kernel
    store: Path  # the bundle, unpacked
    steps: Path  # the folder for the task's note
    fallback: str
    boot_seconds: float

    @staticmethod
    def here() -> "Step":
        """Read the environment that kadence-step set and the state that the prolog wrote."""
        environment = os.environ
        state = artefact.read(Path(environment[JOB], "state.json"), artefact.JOB)
        command = environment[COMMAND]
        return Step(
            task=of(environment),
            command=[command, *sys.argv[1:]],
            program=environment.get(PROGRAM) or command,
            store=Path(state["store"]),
            steps=Path(state["steps"]),
            fallback=str(state["fallback"]),
            boot_seconds=float(state["boot_seconds"]),
        )

    def key(self) -> str:
        """The beginning of the names of the files that a task leaves."""
        return f"{self.task.step}.{self.task.number}"

    def is_adapted(self) -> bool:
        """Whether the bundle's program stands in for the command."""
        return Path(self.program).is_relative_to(self.store)
