# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel trace`: runs a program on the traced kernel and learns what of it ran."""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kadence import boot
from kadence.boot import x86_64
from kadence.errors import GuestError
from kadence.kconfig import configure, identity, source, targets
from kadence.kconfig.build import BuildRequest, build
from kadence.kconfig.request import TRACED
from kadence.kconfig.store import Kernel
from kadence.kconfig.trace import artefact, asmlog
from kadence.kconfig.trace.artefact import Extent, Trace
from kadence.kconfig.trace.lines import Functions, lines
from kadence.kconfig.trace.observed import observe
from kadence.kconfig.trace.symbols import Tree, symbols

TARGET = "x86_64"
BOOT_TIMEOUT_SECONDS = 300.0  # every block is written down as it is translated


def trace(argv: Sequence[str], *, folder: Path | None = None, stand_in: bool = False) -> Trace:
    """Run the command on the traced kernel, building that if need be."""
    request = BuildRequest(kind=TRACED, target=TARGET)
    kernel = build(request)
    with tempfile.TemporaryDirectory(prefix="kadence-trace-") as logs:
        _run(kernel, argv, folder, Path(logs), stand_in)
        program = asmlog.addresses(Path(logs) / x86_64.PROGRAM_LOG)
        booted = asmlog.addresses(Path(logs) / x86_64.BOOT_LOG)
    functions = Functions(kernel.vmlinux)
    ran = functions.containing(program)
    program_lines = lines(kernel.vmlinux, program)
    found = symbols(_tree(request, kernel), program_lines, lines(kernel.vmlinux, booted))
    return Trace(
        argv=list(argv),
        kernel=kernel.id,
        program=Extent(len(program), len(ran)),
        boot=Extent(len(booted), len(functions.containing(booted))),
        symbols=found,
        observed=observe(ran, {file for file, _ in program_lines}),
    )


def _run(
    kernel: Kernel, argv: Sequence[str], folder: Path | None, logs: Path, stand_in: bool
) -> None:
    request = boot.Request(
        image=kernel.image,
        argv=argv,
        target=TARGET,
        directory=folder,
        trace=logs,
        boot_timeout_seconds=BOOT_TIMEOUT_SECONDS,
    )
    result = boot.run(request, stand_in=stand_in)
    if complaints := boot.complaints(result.log):
        raise GuestError(f"the traced kernel complained: {complaints[0]}")
    if result.status:
        # What fails takes other paths; a kernel fitted to them would fit nothing else.
        raise GuestError(f"{argv[0]} ended with status {result.status}, so its trace is not used")


def _tree(request: BuildRequest, kernel: Kernel) -> Tree:
    inputs = identity.gather(request)
    with tempfile.NamedTemporaryFile(prefix="kadence-", suffix=".log") as log:
        tree = source.prepare(inputs.origin, inputs.patches, Path(log.name))
    variables = targets.get(TARGET).kconfig_variables
    return Tree(tree, variables, configure.values(kernel.config))


def summary(found: Trace) -> str:
    """What `kadence kernel trace` says."""
    rows = [("program", found.program), ("boot", found.boot)]
    text = []
    for name, extent in rows:
        count = sum(symbol.ran == name for symbol in found.symbols)
        text.append(
            f"{name:<8} {extent.instructions:>8,} instructions of {extent.functions:>6,} "
            f"functions, {count:>4} symbols"
        )
    seen = found.observed
    text.append(f"system calls: {' '.join(seen.system_calls)}")
    text.append(f"file systems: {' '.join(seen.file_systems)}")
    text.append(f"files: {' '.join(seen.paths)}")
    text.append(f"socket families: {' '.join(map(str, seen.socket_families)) or 'none'}")
    return "\n".join(text)


def write(path: Path, found: Trace) -> None:
    """Keep it."""
    command = ["kadence", "kernel", "trace", "-o", str(path), "--", *found.argv]
    artefact.write(path, found, command)
    print(summary(found), file=sys.stderr)
