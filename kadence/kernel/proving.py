# SPDX-License-Identifier: GPL-2.0-or-later
"""Proves that a kernel serves a program, by the program's check and outputs and the kernel's log.

A kernel serves if it boots, logs no complaint, and the program's check passes on it for every build
of the program. Each build's outputs must also be, byte for byte, those of the plain program on the
generic kernel of the same target.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kadence.base.errors import GuestError
from kadence.kconfig.configuration import missing
from kadence.kconfig.store.store import Kernel
from kadence.measurement import execution
from kadence.measurement.execution import Ending, ExecutionError
from kadence.measurement.measure import KERNEL_NAMES, PLAIN
from kadence.program import outputs
from kadence.program.program import Program

Outputs = dict[str, str]  # file -> SHA-256


@dataclass(frozen=True)
class Subject:
    """The program that a kernel is proven on."""

    program: Program
    folders: Mapping[str, Path]  # build ("plain", "adapted") -> its folder
    scratch: Path
    key: str  # changes with anything that could change a proof
    tasks: int = 1  # of the program that may run at the same time


@dataclass(frozen=True)
class Finding:
    """The result of a proof."""

    reason: str | None = None  # why the kernel does not serve; None if it serves
    named: tuple[str, ...] = ()  # symbols that the kernel's own log asks for
    outputs: tuple[tuple[str, str], ...] = ()
    hopeless: bool = False  # no other kernel could pass

    @property
    def passed(self) -> bool:
        return self.reason is None


class NotServedError(execution.ExecutionError):
    """A command failed on a kernel."""

    def __init__(self, reason: str, log: str) -> None:
        super().__init__(reason)
        self.named = tuple(missing.symbols(missing.in_log(log)))


def require_judge(subject: Subject) -> None:
    """Require that the check passes on the machine's own kernel; else it can judge no other."""
    ending = _run(subject, PLAIN, None, check=True)
    if ending.status:
        raise ExecutionError(
            f"the check of {subject.program.name} does not pass on this machine's own kernel, so "
            f"it can judge no other; its output is in {subject.scratch / 'stderr'}"
        )


def outputs_on(subject: Subject, mode: str, kernel: Kernel) -> Outputs:
    """Run the program on a kernel and return the checksums of its outputs."""
    outputs.remove(subject.program, subject.folders[mode])
    ending = _run(subject, mode, kernel)
    if ending.status:
        raise NotServedError(
            f"{subject.program.run[0]} ended with status {ending.status} as the "
            f"{_where(mode, kernel)}{_asked(ending.log)}",
            ending.log,
        )
    files = outputs.files(subject.program, subject.folders[mode], subject.scratch)
    if (absent := outputs.absent(files)) is not None:
        raise NotServedError(f"the {_where(mode, kernel)} wrote no {absent}", ending.log)
    return outputs.checksums(subject.program, files)


def prove(subject: Subject, kernel: Kernel, generic: Kernel, expected: Outputs) -> Finding:
    """Check and run every build of the program on the kernel."""
    try:
        for mode in subject.folders:
            _require_check(subject, mode, kernel)
            different = _different(outputs_on(subject, mode, kernel), expected)
            if different:
                return _difference(subject, mode, kernel, generic, expected, different)
    except NotServedError as error:
        return Finding(str(error), error.named)
    except GuestError as error:
        return Finding(error.reason, tuple(missing.symbols(missing.in_log(error.log))))
    return Finding(outputs=tuple(sorted(expected.items())))


def blamed(subject: Subject, generic: Kernel, finding: Finding) -> Finding:
    """Mark a failure as hopeless if no symbol that was left out can have caused it.

    Symbols that the log names were left out. Without any, a check on the generic kernel decides,
    because that kernel has all symbols that could be put back.
    """
    if finding.hopeless or finding.named:
        return finding
    try:
        for mode in subject.folders:
            _require_check(subject, mode, generic)
    except (NotServedError, GuestError) as error:
        reason = f"{finding.reason}, and on the generic kernel: {error}"
        return replace(finding, reason=reason, hopeless=True)
    return finding


def _require_check(subject: Subject, mode: str, kernel: Kernel) -> None:
    ending = _run(subject, mode, kernel, check=True)
    if ending.status:
        raise NotServedError(
            f"the program's check ended with status {ending.status} as the "
            f"{_where(mode, kernel)}{_asked(ending.log)}",
            ending.log,
        )


def _different(found: Outputs, expected: Outputs) -> list[str]:
    return [name for name in expected if found.get(name) != expected[name]]


def _difference(
    subject: Subject,
    mode: str,
    kernel: Kernel,
    generic: Kernel,
    expected: Outputs,
    different: list[str],
) -> Finding:
    """Describe the difference. It is hopeless if the generic kernel's own outputs vary."""
    again = _different(outputs_on(subject, PLAIN, generic), expected)
    if again:
        reason = (
            f"{again[0]} differs from run to run on the generic kernel too, so nothing can be "
            "proven by it"
        )
        return Finding(reason, hopeless=True)
    where = _where(mode, kernel)
    return Finding(f"{different[0]} of the {where} differs from that on the generic kernel")


def _where(mode: str, kernel: Kernel) -> str:
    return f"{mode} program on {KERNEL_NAMES[kernel.kind]}"


def _asked(log: str) -> str:
    found = missing.in_log(log)
    return f" ({missing.sentence(found)})" if found else ""


def _run(subject: Subject, mode: str, kernel: Kernel | None, *, check: bool = False) -> Ending:
    program = subject.program
    subject.scratch.mkdir(parents=True, exist_ok=True)
    return execution.run(
        program.check if check else program.run,
        subject.folders[mode],
        image=None if kernel is None else kernel.image,
        target="um" if kernel is None else kernel.target,
        scratch=subject.scratch,
        environment=execution.environment(program.environment),
        standard_input="" if check else program.standard_input,
        timeout_seconds=program.timeout_seconds,
        tasks=subject.tasks,
    )
