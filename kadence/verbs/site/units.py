# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence site units`: the units of the nodes' kernels, and changes of them."""

import argparse
import os
from pathlib import Path

from kadence.base import printing
from kadence.base.errors import UsageError
from kadence.kadapt.live import source
from kadence.slurm import site, site_units
from kadence.slurm.site_units import Answer

DEFAULT_SECONDS = 60


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `kadence site units`."""
    printing.add_json(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--install", metavar="UNIT", help="install this unit of the site's store")
    what.add_argument("--remove", metavar="UNIT", help="remove this unit")
    parser.add_argument("--nodes", metavar="LIST", help="as Slurm writes it (default: all nodes)")
    parser.add_argument("--site", type=Path, default=site.DEFAULT, help="the site's file")
    parser.add_argument(
        "--wait",
        type=int,
        default=DEFAULT_SECONDS,
        metavar="S",
        help="seconds in which a node must have a free processor (%(default)s)",
    )


def execute(options: argparse.Namespace) -> int:
    """Ask the nodes; return 1 if one of them has a problem."""
    if options.wait < 1:
        raise UsageError(f"{options.wait} seconds are too few; give --wait at least 1")
    answers = site_units.ask(
        site_units.nodes(options.nodes), site.read(options.site), _command(options), options.wait
    )
    if options.json:
        printing.document(answers)
        return int(any(answer.problem for answer in answers))
    width = max((len(answer.node) for answer in answers), default=0)
    for answer in answers:
        print(f"{answer.node:<{width}}  {_told(answer)}")
    return int(any(answer.problem for answer in answers))


def _command(options: argparse.Namespace) -> list[str]:
    name = options.install or options.remove
    if name is None:
        return ["units"]
    if not source.NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not the name of a unit, such as writes")
    if os.geteuid() != 0:
        raise UsageError("only root changes the nodes' kernels; run this as root")
    return ["install-unit" if options.install else "remove-unit", name]


def _told(answer: Answer) -> str:
    units = ", ".join(f"{unit.name} ({unit.takers})" for unit in answer.units) or "no units"
    known = f"{answer.kernel}: {units}" if answer.kernel else ""
    return "; ".join(part for part in (known, answer.problem) if part)
