# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the needs of a program's commands, including all processes that they start.

Each command runs once on the generic kernel under `watch` (kconfig-gen/watch), which records what
the conditions of the rules for tailored kernels refer to. If a command fails there, its further
needs are unknown, so it also runs on this machine's own kernel.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kadence.base import artefact, resources
from kadence.base.errors import GuestError
from kadence.base.terminal import tell
from kadence.kconfig.configuration import missing, rules
from kadence.kconfig.configuration.rules import Conditions
from kadence.kconfig.request import targets
from kadence.kconfig.store.store import Kernel
from kadence.measurement import execution
from kadence.measurement.execution import ExecutionError
from kadence.program.program import Program

TOOL = "kconfig-gen/watch"
OWN = "this machine's own kernel"
REPORT = "needs"


@dataclass
class Seen:
    """The needs that were seen, and the commands whose needs could not be seen."""

    calls: set[str] = field(default_factory=set)
    families: set[int] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    file_systems: set[str] = field(default_factory=set)
    unseen: list[str] = field(default_factory=list)  # sentences

    def take(self, report: str, known: Conditions) -> None:
        """Read the report of `watch`; ignore needs that no rule refers to."""
        names = {number: name for name, number in missing.numbers().items()}
        for line in report.splitlines():
            what, _, value = line.partition(" ")
            if what == "call" and names.get(int(value)) in known.calls:
                self.calls.add(names[int(value)])
            elif what == "family" and int(value) in known.socket_families:
                self.families.add(int(value))
            elif what == "file":
                self.files.add(value)
            elif what == "mount" and value in known.file_systems:
                self.file_systems.add(value)
            elif what == "unseen":
                raise ExecutionError(
                    f"this kernel cannot report a process's system calls: {os.strerror(int(value))}"
                )


@dataclass(frozen=True)
class Watch:
    """The kernel and the folders with which commands run."""

    folder: Path
    scratch: Path
    generic: Kernel | None
    environment: tuple[tuple[str, str], ...] = ()
    timeout_seconds: float | None = None

    def see(self, argv: Sequence[str], standard_input: str, seen: Seen) -> None:
        """Run a command on the generic kernel; if that fails, also on this machine's own."""
        kernels = [self.generic, None] if self.generic else [None]
        for kernel in kernels:
            where = f"generic kernel {kernel.id}" if kernel else OWN
            try:
                self._see_on(kernel, argv, standard_input, seen)
            except (ExecutionError, GuestError) as error:
                seen.unseen.append(f"`{' '.join(argv)}` on {where}: {error}")
                tell(f"needs: {seen.unseen[-1]}")
            else:
                return

    def _see_on(
        self, kernel: Kernel | None, argv: Sequence[str], standard_input: str, seen: Seen
    ) -> None:
        self.scratch.mkdir(parents=True, exist_ok=True)
        report = self.scratch / REPORT
        report.write_text("")
        target = kernel.target if kernel else targets.DEFAULT
        known = rules.conditions(target)
        ending = execution.run(
            [*_words(known, report), *argv],
            self.folder,
            image=kernel.image if kernel else None,
            target=target,
            scratch=self.scratch,
            environment=execution.environment(self.environment),
            standard_input=standard_input,
            timeout_seconds=self.timeout_seconds,
        )
        seen.take(report.read_text(), known)
        if ending.status:
            raise ExecutionError(f"it ended with status {ending.status}")


def _words(known: Conditions, report: Path) -> list[str]:
    """The words that start `watch`: the program, its report, and the needs to look for."""
    numbers = missing.numbers()
    calls = ",".join(str(numbers[call]) for call in sorted(known.calls))
    return [str(resources.built(TOOL)), str(report.resolve()), calls, ",".join(sorted(known.files))]


def commands(program: Program) -> list[tuple[tuple[str, ...], str]]:
    """All commands of a program that a kernel must serve, with their standard inputs."""
    asked = [
        (program.check, ""),
        (program.run, program.standard_input),
        (program.profile, program.profile_input),
        (program.validate, program.validate_input),
    ]
    return [(argv, given) for argv, given in dict.fromkeys(asked) if argv]


def record(program: Program, watch: Watch, output: Path) -> None:
    """Run all of a program's commands and write its needs artefact."""
    seen = Seen()
    for argv, standard_input in commands(program):
        watch.see(argv, standard_input, seen)
    again = ["kadence", "kernel", "tailor", str(program.folder), "-o", str(output.parent)]
    write(output, seen, [argv for argv, _ in commands(program)], again)


def write(
    output: Path, seen: Seen, ran: Sequence[Sequence[str]], command: Sequence[str]
) -> dict[str, Any]:
    """Write the needs artefact (docs/artefacts-kernel.md); return its body."""
    body: dict[str, Any] = {
        "commands": [list(argv) for argv in ran],
        "system_calls": sorted(seen.calls),
        "socket_families": sorted(seen.families),
        "files": sorted(seen.files),
        "file_systems": sorted(seen.file_systems),
        "unseen": seen.unseen,
    }
    artefact.write(output, artefact.NEEDS, None, command, body)
    return body
