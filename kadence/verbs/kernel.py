# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel build|list|show|gc`: the kernel store."""

import argparse
import json
import shlex
from pathlib import Path

from kadence.errors import KadenceError
from kadence.kconfig import collect, series, store, targets
from kadence.kconfig.build import BuildRequest, build
from kadence.kconfig.request import GENERIC, TAILORED


def configure(parser: argparse.ArgumentParser) -> None:
    """One sub-command for each thing to do with kernels."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    building = actions.add_parser("build", help="build a kernel into the store")
    kind = building.add_mutually_exclusive_group(required=True)
    kind.add_argument("--plan", type=Path, metavar="P.plan.json", help="tailored to this plan")
    kind.add_argument("--generic", action="store_true", help="the target's usual configuration")
    building.add_argument("--source", type=Path, metavar="DIR", help="a kernel tree of your own")
    building.add_argument("--target", default=targets.DEFAULT, help="what it is to run on")
    building.add_argument("--series", default=series.DEFAULT, help="kernel series")
    building.add_argument("--hz", type=int, help="tick rate (default: the target's)")
    building.set_defaults(act=_build)
    actions.add_parser("list", help="the kernels in the store").set_defaults(act=_list)
    showing = actions.add_parser("show", help="what is in a kernel, and why")
    showing.add_argument("kernel", metavar="ID", help="an ID, the start of one, or a kind")
    showing.set_defaults(act=_show)
    collecting = actions.add_parser("gc", help="remove what is superseded, damaged or left over")
    collecting.add_argument("--all", action="store_true", help="every kernel and source")
    collecting.set_defaults(act=_collect)


def execute(options: argparse.Namespace) -> int:
    """Do what the sub-command says."""
    options.act(options)
    return 0


def _build(options: argparse.Namespace) -> None:
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


def _list(options: argparse.Namespace) -> None:
    for identifier in store.identifiers():
        try:
            found = store.load(identifier).manifest
        except KadenceError as error:
            print(f"{identifier}  damaged: {error}")
            continue
        size = found["image_bytes"] / 1e6
        what = f"{found['kind']:<8}  {found['target']}  {found['release']}  {found['hz']} Hz"
        print(f"{identifier}  {what}  {size:.1f} MB")


def _show(options: argparse.Namespace) -> None:
    kernel = store.find(options.kernel)
    print(json.dumps(kernel.manifest | {"path": str(kernel.path)}, indent=1, ensure_ascii=False))


def _collect(options: argparse.Namespace) -> None:
    removed = collect.collect(options.all)
    for path in removed:
        print(f"removed {path}")
    if not removed:
        print("nothing to remove")
