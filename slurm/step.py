# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a task of a step on the kernel of its job's bundle.

    python -m kadence.slurm.step ARGUMENTS...

is what kadence-step (node/step/step.cc) executes for target um. This process is the task: Slurm
signals it, and takes its exit status for the command's. If no guest can serve the step (it is too
large, or the kernel does not boot), the job's fallback decides. A command that was started is never
run a second time.

Every step of every job waits for the imports of this module before its kernel starts.
"""

import fcntl
import os
import resource
import shutil
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from kadence import boot
from kadence.base import artefact
from kadence.base.errors import ArtefactError, GuestError, KadenceError
from kadence.boot.session import run
from kadence.slurm import manifest, note, task
from kadence.slurm.manifest import KernelFile, Manifest
from kadence.slurm.task import Step, Task

UM = "um"
LOG_LINES = 12  # of a guest's log, in the note of a step that failed
FAIL = "fail"
# Names the file to which libkadapt appends its counters, a line for each process.
COUNTERS = "KADAPT_COUNTERS"
# Names the file to which an adapted process appends its record of trials; a step has one.
TRIALS = "KADAPT_TRIALS_RECORD"
# Names the units that an adapted process takes in its phases.
UNITS = "KADAPT_UNITS"
# From a job's variables mpirun concludes that Slurm starts its ranks, but the guest has no Slurm.
# These settings are for OpenMPI (plm, ras; PRTE since OpenMPI 5), and for MPICH and its derivatives
# (Hydra).
LAUNCHERS = {
    "OMPI_MCA_plm": "isolated",
    "OMPI_MCA_ras": "^slurm",
    "PRTE_MCA_plm": "^slurm",
    "PRTE_MCA_ras": "^slurm",
    "HYDRA_BOOTSTRAP": "fork",
    "I_MPI_HYDRA_BOOTSTRAP": "fork",
    "HYDRA_RMK": "user",
}
SLURM = "slurm"  # Since 23.11, Slurm sets some of LAUNCHERS to this. Other values are the user's.
LET_GO = (0, 1)
ABOVE_STANDARD_STREAMS = 10


class NotServedError(KadenceError):
    """The bundle has no kernel that can serve this step."""


def main() -> int:
    """Return the command's exit status, or die by the signal that ended the command."""
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
        result = _run(step, _bundle(step))
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


def _bundle(step: Step) -> Manifest:
    path = step.store / manifest.NAME
    described = manifest.from_document(str(path), artefact.read(path, artefact.BUNDLE))
    if UM not in described.kernels:
        raise NotServedError(f"the bundle {described.name} has no kernel for target um")
    return described


def _run(step: Step, bundle: Manifest) -> boot.Result:
    kernel = bundle.kernels[UM]
    request = boot.Request(
        image=step.store / kernel.file,
        argv=step.command,
        file=Path(step.program),
        environment=_environment(step, bundle.units_variable()),
        memory_limit_bytes=_guest_memory(step.task),
        boot_timeout_seconds=step.boot_seconds,
    )
    result = run(request, stand_in=True)
    _leave_note(step, kernel, result)
    return result


def _guest_memory(of: Task) -> int | None:
    """Memory for the guest; an eighth is left to the kernel's host processes and to this one."""
    return None if of.memory_bytes is None else of.memory_bytes * 7 // 8


def _environment(step: Step, units: str) -> dict[str, str]:
    """The command's environment, with libkadapt's files, and the units that its phases take."""
    files = {COUNTERS: str(step.steps / f"{step.key()}.counters")}
    if step.is_adapted():
        files[TRIALS] = str(step.steps / f"{step.task.step}.trials")
    if step.is_adapted() and units:
        files[UNITS] = units
    own = _own_environment()
    hidden = {name: value for name, value in LAUNCHERS.items() if own.get(name, SLURM) == SLURM}
    return files | own | hidden


def _own_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in task.OWN}


def say(sentence: str) -> None:
    """Write a line to the job's error file."""
    print(f"kadence: {sentence}", file=sys.stderr, flush=True)


def _kept_streams() -> dict[int, int]:
    """Duplicates of the streams that a stand-in closes; none of a stream that is closed already."""
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
    """Do as the job's fallback says. The command was not started."""
    if step.fallback != FAIL:
        say(f"{error}; running unadapted")
        _take_back(kept)
        become_plain(step, error.reason)
    say(str(error))
    _leave_refusal(step, error, status=1)
    return 1


def _lost(step: Step, error: GuestError) -> int:
    """The guest died under the command, which may have done part of its work."""
    say(f"{error}; the command is not run again")
    _leave_refusal(step, error, status=error.exit_status)
    return error.exit_status


def become_plain(step: Step, why: str) -> NoReturn:
    """Execute the command that Slurm was given, as Slurm would have done."""
    _leave_note(step, None, None, why=why)
    name = step.command[0]
    file = name if "/" in name else shutil.which(name)
    # The interpreter ignores these signals, and an exec keeps ignored signals ignored.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(file or name, step.command, _own_environment())
    except OSError as error:
        # slurmstepd's message and exit status.
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
    """Name a possible cause, if the command failed."""
    if result.status == 0:
        return
    if "Out of memory: Killed process" in result.log:
        say("the guest ran out of memory; ask for more with srun --mem")
        return
    # Imported here because most commands succeed.
    from kadence.kernel.fallback import lacking

    fault = lacking(result)
    if fault is not None:
        say(f"{fault}: make the bundle anew, tailored to such an input")


def _leave_note(
    step: Step, kernel: KernelFile | None, result: boot.Result | None, why: str = ""
) -> None:
    """Leave a note for the epilog. The command's result does not depend on it."""
    note.leave(step.steps / f"{step.key()}.json", note.of(step, kernel, result, why))


def _log_end(error: KadenceError) -> list[str]:
    """The end of the guest's log, for readers of the note on machines without that log."""
    return error.log.splitlines()[-LOG_LINES:] if isinstance(error, GuestError) else []


def _leave_refusal(step: Step, error: KadenceError, status: int) -> None:
    body = note.of(step, None, None, error.reason)
    body |= {"status": status, "signal": 0, "log": _log_end(error)}
    note.leave(step.steps / f"{step.key()}.json", body)


if __name__ == "__main__":
    sys.exit(main())
