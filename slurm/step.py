# SPDX-License-Identifier: GPL-2.0-or-later
"""A task of a step, on the kernel that its job's bundle brings.

    python -m kadence.slurm.step ARGUMENTS...

is what kadence-step (node/step.cc) becomes for target um. The task is this process: Slurm signals
it, and takes its exit status for the command's. What makes no guest (a step too large for one, a
kernel that does not come up) ends as the job's fallback says; a command that was started is never
run a second time.

All that is imported here is paid for by every step of every job before its kernel starts.
"""

import fcntl
import os
import resource
import shutil
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from kadence import artefact, boot
from kadence.boot.session import run
from kadence.errors import ArtefactError, GuestError, KadenceError
from kadence.slurm import manifest, note, task
from kadence.slurm.manifest import KernelFile
from kadence.slurm.task import Task

UM = "um"
LOG_LINES = 12  # of a guest's log, in the note of a step that failed
FAIL = "fail"
# Whoever reads a command's counters reads them here: what libkadapt appends a line to.
COUNTERS = "KADAPT_COUNTERS"
# mpirun takes a job's variables for a Slurm that starts its ranks, and in the guest there is none:
# OpenMPI's (plm, ras) and those of MPICH and its kin (Hydra).
LAUNCHERS = {
    "OMPI_MCA_plm": "isolated",
    "OMPI_MCA_ras": "^slurm",
    "HYDRA_BOOTSTRAP": "fork",
    "HYDRA_RMK": "user",
}
LET_GO = (0, 1)
ABOVE_STANDARD_STREAMS = 10


class NotServedError(KadenceError):
    """The bundle's kernel can't serve this step."""


@dataclass(frozen=True)
class Step:
    """What a task needs to know."""

    task: Task
    command: list[str]  # as Slurm was given it
    program: str  # what to run in its place on the bundle's kernel
    store: Path  # the bundle, unpacked
    steps: Path  # where the task leaves a note
    fallback: str
    boot_seconds: float

    @staticmethod
    def here() -> "Step":
        """As kadence-step and the prolog left it."""
        environment = os.environ
        state = artefact.read(Path(environment[task.JOB], "state.json"), artefact.JOB)
        command = environment[task.COMMAND]
        return Step(
            task=task.of(environment),
            command=[command, *sys.argv[1:]],
            program=environment.get(task.PROGRAM) or command,
            store=Path(state["store"]),
            steps=Path(state["steps"]),
            fallback=str(state["fallback"]),
            boot_seconds=float(state["boot_seconds"]),
        )

    def key(self) -> str:
        """What the files that a task leaves are named by."""
        return f"{self.task.step}.{self.task.number}"

    def is_adapted(self) -> bool:
        """Whether the bundle's program stands in for the command."""
        return Path(self.program).is_relative_to(self.store)


def main() -> int:
    """The command's exit status; ends by a signal where the command did."""
    try:
        step = Step.here()
    except KeyError as error:
        say(f"{error} is not set; kadence.slurm.step is for Slurm to start, by srun --kadence")
        return 1
    except ArtefactError as error:
        say(str(error))
        return 1
    too_large = step.task.too_large()
    if too_large is not None:
        if step.task.is_first():
            say(f"{too_large}; running unadapted")
        become_plain(step, too_large)
    return _served(step)


def _served(step: Step) -> int:
    kept = _kept_streams()
    try:
        result = _run(step, _kernel(step))
    except GuestError as error:
        if error.interrupted_by is not None:
            return _end_by(error.interrupted_by)
        if error.command_started:
            return _lost(step, error)
        return _fall_back(step, error, kept)
    except KadenceError as error:
        return _fall_back(step, error, kept)
    _tell_shortage(result)
    return result.status if result.signal is None else _end_by(result.signal)


def _kernel(step: Step) -> KernelFile:
    path = step.store / manifest.NAME
    described = manifest.from_document(str(path), artefact.read(path, artefact.BUNDLE))
    if UM not in described.kernels:
        raise NotServedError(f"the bundle {described.name} has no kernel for target um")
    return described.kernels[UM]


def _run(step: Step, kernel: KernelFile) -> boot.Result:
    request = boot.Request(
        image=step.store / kernel.file,
        argv=step.command,
        file=Path(step.program),
        environment=_environment(step),
        memory_limit_bytes=_guest_memory(step.task),
        boot_timeout_seconds=step.boot_seconds,
    )
    result = run(request, stand_in=True)
    _leave_note(step, kernel, result)
    return result


def _guest_memory(of: Task) -> int | None:
    """An eighth is for the kernel's own processes, and for this one."""
    return None if of.memory_bytes is None else of.memory_bytes * 7 // 8


def _environment(step: Step) -> dict[str, str]:
    """The command's own, and where libkadapt leaves its counters for the epilog."""
    counters = {COUNTERS: str(step.steps / f"{step.key()}.counters")}
    return LAUNCHERS | counters | _own_environment()


def _own_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in task.OWN}


def say(sentence: str) -> None:
    """A line in the job's error file."""
    print(f"kadence: {sentence}", file=sys.stderr, flush=True)


def _kept_streams() -> dict[int, int]:
    """Second descriptors of the streams that a stand-in lets go of; a closed one has none."""
    kept = {}
    for stream in LET_GO:
        with suppress(OSError):
            kept[stream] = fcntl.fcntl(stream, fcntl.F_DUPFD_CLOEXEC, ABOVE_STANDARD_STREAMS)
    return kept


def _take_back(kept: Mapping[int, int]) -> None:
    for stream in LET_GO:
        if stream in kept:
            os.dup2(kept[stream], stream)
        else:
            with suppress(OSError):
                os.close(stream)


def _fall_back(step: Step, error: KadenceError, kept: Mapping[int, int]) -> int:
    """The command was not started."""
    if step.fallback != FAIL:
        say(f"{error}; running unadapted")
        _take_back(kept)
        become_plain(step, error.reason)
    say(str(error))
    _leave_refusal(step, error, status=1)
    return 1


def _lost(step: Step, error: GuestError) -> int:
    """The guest went in the middle of the job: who knows what the command had done by then."""
    say(f"{error}; what it did is not done again")
    _leave_refusal(step, error, status=error.exit_status)
    return error.exit_status


def become_plain(step: Step, why: str) -> NoReturn:
    """Execute what Slurm was given, as if we had not been here."""
    _leave_note(step, None, None, why=why)
    name = step.command[0]
    file = name if "/" in name else shutil.which(name)
    # The interpreter ignores these, and what is ignored stays so.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(file or name, step.command, _own_environment())
    except OSError as error:
        # As slurmstepd says it, and with the status that it gives.
        say(f"error: execve(): {name}: {error.strerror}")
        sys.exit(error.errno)


def _end_by(number: int) -> int:
    """Die as the command did, so that Slurm sees the signal."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    return 128 + number


def _tell_shortage(result: boot.Result) -> None:
    """What a command that failed may have failed for."""
    if result.status == 0:
        return
    if "Out of memory: Killed process" in result.log:
        say("the guest ran out of memory; ask for more with srun --mem")
        return
    # Imported here because most commands succeed.
    from kadence.fallback import lacking

    fault = lacking(result)
    if fault is not None:
        say(f"{fault}: make the bundle anew, tailored with such an input")


def _leave_note(
    step: Step, kernel: KernelFile | None, result: boot.Result | None, why: str = ""
) -> None:
    """For the epilog; nothing depends on it, so the command's end does not either."""
    note.leave(step.steps / f"{step.key()}.json", note.of(step, kernel, result, why))


def _log_end(error: KadenceError) -> list[str]:
    """For whoever reads the note on a machine that has not the guest's log."""
    return error.log.splitlines()[-LOG_LINES:] if isinstance(error, GuestError) else []


def _leave_refusal(step: Step, error: KadenceError, status: int) -> None:
    body = note.of(step, None, None, error.reason)
    body |= {"status": status, "signal": 0, "log": _log_end(error)}
    note.leave(step.steps / f"{step.key()}.json", body)


if __name__ == "__main__":
    sys.exit(main())
