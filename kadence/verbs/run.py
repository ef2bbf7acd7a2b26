# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence run`: run a command under a kernel."""

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kadence import boot
from kadence.base.errors import UsageError
from kadence.boot import host, processors
from kadence.boot.memory import parse_size
from kadence.boot.request import TARGETS
from kadence.boot.session import run
from kadence.kernel import fallback
from kadence.live import wanted
from kadence.prediction import tasks

if TYPE_CHECKING:
    # The store is imported where it is used: running an image by its path does not need it.
    from kadence.kconfig.store.store import Kernel

GENERIC, TAILORED = "generic", "tailored"
# Kernels that exist for every target, so that their names do not determine the target.
NAMES = (GENERIC, TAILORED, "traced", "minimal")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the kernel, its memory, and the command."""
    parser.add_argument(
        "--kernel",
        default=GENERIC,
        help="generic, tailored, traced, the ID of a kernel in the store, or an image's path "
        "(default: generic)",
    )
    parser.add_argument(
        "--target",
        choices=TARGETS,
        help="um: User-Mode Linux; x86_64: a whole machine in QEMU (default: the kernel's, else "
        "the first that works on this machine)",
    )
    parser.add_argument(
        "--series", metavar="SERIES", help="kernel series of generic and tailored (default: 6.12)"
    )
    parser.add_argument("--plan", type=Path, metavar="P.plan.json", help="the plan for tailored")
    parser.add_argument("--trace", type=Path, metavar="P.ktrace.json", help="its trace")
    parser.add_argument(
        "--mem", metavar="SIZE", help="memory of the guest, such as 2G (default: the free memory)"
    )
    parser.add_argument(
        "--cpus",
        type=int,
        metavar="N",
        help="processors of the guest (default: one for each task of the plan or thread of "
        "OMP_NUM_THREADS, as far as kernel and machine support them)",
    )
    parser.add_argument(
        "--fallback",
        action="store_true",
        help="if the kernel fails the command, run it again on the generic kernel",
    )
    parser.add_argument(
        "--unit",
        action="append",
        default=[],
        type=wanted.parse,
        dest="units",
        metavar="UNIT.c[:PHASES]",
        help="a unit that the kernel contains, for an adapted program's phases, such as "
        "writes.c:0,2 (default: all; may be repeated)",
    )
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds the command may take")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD", help="the command")


def execute(options: argparse.Namespace) -> int:
    """Run the command and return its exit status, or 128 + n if signal n killed it."""
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise UsageError("no command to run; name it after --, as in `kadence run -- ls`")
    if options.timeout is not None and not options.timeout > 0:
        raise UsageError(f"{options.timeout:g} seconds are too few; give --timeout more than 0")
    if options.fallback and options.kernel == GENERIC:
        raise UsageError(
            "--fallback falls back on the generic kernel, which is already the first choice; name "
            "another with --kernel, or leave --fallback out"
        )
    if options.plan is not None:
        # Imported here, because most runs need no plan, and importing NumPy outlasts a boot.
        from kadence.program.matching import require_same_program

        require_same_program(options.plan, command[0])
    options.target, image = _chosen(options)
    request = boot.Request(
        image=image,
        argv=command,
        target=options.target,
        memory_bytes=parse_size(options.mem) if options.mem else None,
        timeout_seconds=options.timeout,
        environment=wanted.environment(options.units, os.environ) if options.units else None,
    )
    request = replace(request, processors=_processors(request, options))
    result = _run(request, options)
    if "Out of memory: Killed process" in result.log:
        print("kadence: the guest ran out of memory; give it more with --mem", file=sys.stderr)
    return result.status


def _processors(request: boot.Request, options: argparse.Namespace) -> int:
    """The guest's processors. More than the machine has are allowed, with a warning."""
    if options.cpus is None:
        wanted = max(
            tasks.of_plan(options.plan, request.target),
            tasks.of_environment(os.environ, request.target),
        )
        return processors.granted(request, wanted)
    processors.check(replace(request, processors=options.cpus))
    if options.cpus > processors.usable():
        print(
            f"kadence: {options.cpus} processors of the guest share {processors.usable()} of this "
            "machine: threads that spin while they wait delay the others",
            file=sys.stderr,
        )
    return int(options.cpus)


def _run(request: boot.Request, options: argparse.Namespace) -> boot.Result:
    if options.fallback:
        return fallback.run_or_fall_back(request, _generic_image(options))
    result = run(request, stand_in=True)
    fault = fallback.lacking(result)
    if fault is not None:
        print(
            f"kadence: {fault}: tailor with this input, or rerun with --fallback", file=sys.stderr
        )
    return result


def _generic_image(options: argparse.Namespace) -> Path:
    from kadence.kconfig.store import store

    units = _unit_files(options)
    return store.find(GENERIC, target=options.target, series=_series(options), units=units).image


def _unit_files(options: argparse.Namespace) -> tuple[Path, ...]:
    return tuple(unit.source for unit in options.units)


def _series(options: argparse.Namespace) -> str:
    from kadence.kconfig.request import series

    return series.get(options.series or series.DEFAULT).name


def _chosen(options: argparse.Namespace) -> tuple[str, Path]:
    """The target (as named, else the kernel's, else one that works here), and its image."""
    if "/" in options.kernel:
        # As in a shell, a slash makes it a path. An image does not say what its target is.
        return host.choose(options.target or TARGETS[0]), Path(options.kernel)
    from kadence.kconfig.store import store

    target = None
    if options.target is not None or options.kernel in NAMES:
        target = host.choose(options.target)
    kernel = store.find(
        options.kernel,
        options.plan,
        target or TARGETS[0],
        options.trace,
        _series(options),
        _unit_files(options),
    )
    if target is None:
        target = host.choose(kernel.target)
    if kernel.target != target:
        raise UsageError(
            f"kernel {kernel.id} is for {kernel.target}; run it with --target {kernel.target}"
        )
    if options.kernel == TAILORED:
        kernel = _serving(kernel)
    wanted.require(options.units, kernel.id, kernel.manifest.get("units", {}))
    return target, kernel.image


def _serving(kernel: "Kernel") -> "Kernel":
    """The kernel that the proof of this one names; the generic one if none was proven."""
    from kadence.kconfig.store import store
    from kadence.kernel import proof

    served = proof.serving(kernel)
    if served is not None:
        return served
    print(
        f"kadence: kernel {kernel.id} was not proven ({proof.path_of(kernel)} says why); "
        "using the generic kernel instead",
        file=sys.stderr,
    )
    return store.find(GENERIC, target=kernel.target, series=str(kernel.manifest["series"]))
