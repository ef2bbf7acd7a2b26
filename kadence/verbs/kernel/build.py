# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel build`: build a kernel into the store."""

import argparse
import shlex
from pathlib import Path

from kadence.base import printing, terminal
from kadence.kconfig.layout import artefact, planting
from kadence.kconfig.request.request import (
    GENERIC,
    MEMORY_CHECKED,
    MINIMAL,
    RACE_CHECKED,
    TAILORED,
    TRACED,
)
from kadence.kconfig.store.build import BuildRequest, build
from kadence.verbs.kernel import wishes

KINDS = {
    GENERIC: "the target's usual configuration",
    TRACED: "all that a program could need, with debug information, for `kadence kernel trace`",
    MEMORY_CHECKED: "small, for two processors, with KASAN, UBSAN, lockdep and kmemleak",
    RACE_CHECKED: "the same with KCSAN instead of KASAN; they cannot be combined",
    MINIMAL: "only boots; `kadence doctor` examines the machine with it",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the kernel's kind and its source."""
    printing.add_json(parser)
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--plan", type=Path, metavar="P.plan.json", help="tailored to this plan")
    for name, summary in KINDS.items():
        kind.add_argument(f"--{name}", action="store_const", dest="kind", const=name, help=summary)
    parser.add_argument("--source", type=Path, metavar="DIR", help="a kernel tree of your own")
    parser.add_argument(
        "--unit",
        action="append",
        default=[],
        type=Path,
        dest="units",
        metavar="UNIT.c",
        help="build this unit in, so that phases can take it (may be repeated)",
    )
    parser.add_argument(
        "--points",
        action="store_true",
        help="let `kadence observe --per-phase` instrument its functions",
    )
    parser.add_argument("--hz", type=int, help="tick rate (default: the target's)")
    wishes.add(parser)
    wishes.add_layout(parser)


def execute(options: argparse.Namespace) -> int:
    """Build; print the path of the kernel and the command that makes it again."""
    request = BuildRequest(
        kind=options.kind or TAILORED,
        plan=options.plan,
        target=options.target,
        series=options.series,
        source=options.source,
        hz=options.hz,
        trace=options.trace,
        overrides=tuple(sorted(options.overrides)),
        mitigations=options.mitigations,
        units=tuple(options.units),
        points=options.points,
        layout=options.layout,
    )
    kernel = build(request)
    if options.json:
        again = request.command()
        printing.document({"id": kernel.id, "image": kernel.image, "again": again})
        return 0
    print(f"{kernel.id}  {kernel.image}")
    if options.layout:
        print(planting.told(artefact.read(options.layout), kernel.log))
    print(f"again: {shlex.join(request.command())}")
    plan = ["--plan", options.plan] if options.plan else []
    terminal.hint("kadence", "run", "--kernel", kernel.id, *plan, "--", "COMMAND")
    return 0
