# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel build`: build a kernel into the store."""

import argparse
import shlex
from pathlib import Path

from kadence.errors import UsageError
from kadence.kconfig import series, targets
from kadence.kconfig.build import BuildRequest, build
from kadence.kconfig.request import GENERIC, TAILORED, TRACED

KINDS = {
    GENERIC: "the target's usual configuration",
    TRACED: "all that a program could need, with debug information, for `kadence kernel trace`",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """What the kernel is for, and from what it is made."""
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--plan", type=Path, metavar="P.plan.json", help="tailored to this plan")
    for name, summary in KINDS.items():
        kind.add_argument(f"--{name}", action="store_const", dest="kind", const=name, help=summary)
    parser.add_argument("--trace", type=Path, metavar="P.ktrace.json", help="what the program ran")
    parser.add_argument("--source", type=Path, metavar="DIR", help="a kernel tree of your own")
    parser.add_argument("--target", default=targets.DEFAULT, help="what it is to run on")
    parser.add_argument("--series", default=series.DEFAULT, help="kernel series")
    parser.add_argument("--hz", type=int, help="tick rate (default: the target's)")
    parser.add_argument(
        "--mitigations",
        action="store_true",
        help="keep the defences against other users of the machine",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=_override,
        dest="overrides",
        metavar="SYMBOL=VALUE",
        help="a symbol above all rules (may be repeated)",
    )


def execute(options: argparse.Namespace) -> int:
    """Build, and say where the kernel is and how to make it again."""
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
    )
    kernel = build(request)
    print(f"{kernel.id}  {kernel.image}")
    print(f"again: {shlex.join(request.command())}")
    return 0


def _override(text: str) -> tuple[str, str]:
    symbol, equals, value = text.removeprefix("CONFIG_").partition("=")
    if not (symbol and equals and value):
        raise UsageError(f"--set {text!r} is not of the form SYMBOL=VALUE, such as FUTEX=y")
    return symbol, value
