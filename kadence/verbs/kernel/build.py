# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel build`: build a kernel into the store."""

import argparse
import shlex
from pathlib import Path

from kadence.kconfig import series, targets
from kadence.kconfig.build import BuildRequest, build
from kadence.kconfig.request import GENERIC, TAILORED


def configure(parser: argparse.ArgumentParser) -> None:
    """What the kernel is for, and from what it is made."""
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--plan", type=Path, metavar="P.plan.json", help="tailored to this plan")
    kind.add_argument("--generic", action="store_true", help="the target's usual configuration")
    parser.add_argument("--source", type=Path, metavar="DIR", help="a kernel tree of your own")
    parser.add_argument("--target", default=targets.DEFAULT, help="what it is to run on")
    parser.add_argument("--series", default=series.DEFAULT, help="kernel series")
    parser.add_argument("--hz", type=int, help="tick rate (default: the target's)")


def execute(options: argparse.Namespace) -> int:
    """Build, and say where the kernel is and how to make it again."""
    request = BuildRequest(
        kind=GENERIC if options.generic else TAILORED,
        plan=options.plan,
        target=options.target,
        series=options.series,
        source=options.source,
        hz=options.hz,
    )
    kernel = build(request)
    print(f"{kernel.id}  {kernel.image}")
    print(f"again: {shlex.join(request.command())}")
    return 0
