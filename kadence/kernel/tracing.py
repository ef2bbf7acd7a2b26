# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel trace`: runs a program on the traced kernel and finds the code that ran."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence import boot
from kadence.base.errors import GuestError
from kadence.boot import x86_64
from kadence.kconfig.configuration import configure, identity, rules
from kadence.kconfig.configuration.own import own
from kadence.kconfig.request import targets
from kadence.kconfig.request.request import TRACED
from kadence.kconfig.store.build import BuildRequest, build
from kadence.kconfig.store.store import Kernel
from kadence.kconfig.trace import artefact, asmlog
from kadence.kconfig.trace.artefact import Extent, Trace
from kadence.kconfig.trace.lines import Functions, lines
from kadence.kconfig.trace.observed import observe
from kadence.kconfig.trace.symbols import ANY, PROGRAM, Tree, symbols
from kadence.kconfig.tree import source

TARGET = "x86_64"
# Runs the code that every program runs: a process's start and end, init's work, clock ticks.
IDLE = ("true",)
BOOT_TIMEOUT_SECONDS = 300.0  # QEMU logs every block that it translates


def trace(argv: Sequence[str], *, folder: Path | None = None, stand_in: bool = False) -> Trace:
    """Run the command on the traced kernel; build that kernel if it is missing."""
    request = BuildRequest(kind=TRACED, target=TARGET)
    kernel = build(request)
    idle = _run(kernel, IDLE, folder, stand_in=False)
    ran = _run(kernel, argv, folder, stand_in=stand_in)
    functions = Functions(kernel.vmlinux)
    used = functions.containing(ran.program)
    found = symbols(
        _tree(request, kernel),
        lines(kernel.vmlinux, ran.program - idle.program),
        lines(kernel.vmlinux, ran.boot | idle.program),
    )
    observed = observe(used, {file for file, _ in lines(kernel.vmlinux, ran.program)})
    return Trace(
        argv=list(argv),
        kernel=kernel.id,
        program=Extent(len(ran.program), len(used)),
        boot=Extent(len(ran.boot), len(functions.containing(ran.boot))),
        symbols=own(found, observed, rules.boot_needs(TARGET)),
        observed=observed,
    )


@dataclass(frozen=True)
class _Ran:
    """Addresses of the kernel's instructions that ran."""

    boot: set[int]
    program: set[int]  # from the command's start to the machine's halt


def _run(kernel: Kernel, argv: Sequence[str], folder: Path | None, *, stand_in: bool) -> _Ran:
    with tempfile.TemporaryDirectory(prefix="kadence-trace-") as name:
        logs = Path(name)
        request = boot.Request(
            image=kernel.image,
            argv=argv,
            target=TARGET,
            directory=folder,
            trace=logs,
            boot_timeout_seconds=BOOT_TIMEOUT_SECONDS,
        )
        _require_success(argv, boot.run(request, stand_in=stand_in))
        return _Ran(
            boot=asmlog.addresses(logs / x86_64.BOOT_LOG),
            program=asmlog.addresses(logs / x86_64.PROGRAM_LOG),
        )


def _require_success(argv: Sequence[str], result: boot.Result) -> None:
    if complaints := boot.complaints(result.log):
        raise GuestError(f"the traced kernel logged a complaint: {complaints[0]}")
    if result.status:
        # A failing command takes other paths, so a kernel tailored to them would not serve it.
        raise GuestError(f"{argv[0]} ended with status {result.status}, so its trace is not used")


def _tree(request: BuildRequest, kernel: Kernel) -> Tree:
    inputs = identity.gather(request)
    with tempfile.NamedTemporaryFile(prefix="kadence-", suffix=".log") as log:
        tree = source.prepare(inputs.origin, inputs.patches, Path(log.name))
    variables = targets.get(TARGET).kconfig_variables
    return Tree(tree, variables, configure.values(kernel.config))


def summary(found: Trace) -> str:
    """The output of `kadence kernel trace`."""
    text = [
        f"{name:<8} {extent.instructions:>8,} instructions of {extent.functions:>6,} functions"
        for name, extent in (("program", found.program), ("boot", found.boot))
    ]
    needed = [symbol.symbol for symbol in found.symbols if symbol.ran == PROGRAM]
    others = sum(symbol.ran == ANY for symbol in found.symbols)
    text.append(f"symbols: {' '.join(needed) or 'none of its own'}; {others} that any program runs")
    seen = found.observed
    text.append(f"system calls: {' '.join(seen.system_calls)}")
    text.append(f"file systems: {' '.join(seen.file_systems)}")
    text.append(f"files: {' '.join(seen.paths)}")
    text.append(f"socket families: {' '.join(map(str, seen.socket_families)) or 'none'}")
    return "\n".join(text)


def write(path: Path, found: Trace) -> None:
    """Write the trace."""
    command = ["kadence", "kernel", "trace", "-o", str(path), "--", *found.argv]
    artefact.write(path, found, command)
