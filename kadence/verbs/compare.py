# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence compare`: check whether a program does the same kinds of work on several inputs."""

import argparse
from pathlib import Path
from typing import Any

from kadence.base import printing
from kadence.phases import comparison


def configure(parser: argparse.ArgumentParser) -> None:
    printing.add_json(parser)
    parser.add_argument(
        "profiles", type=Path, nargs="+", metavar="PROFILE.kprof", help="one for each input"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="COMPARE.json", help="the comparison"
    )
    parser.add_argument(
        "--matrix",
        type=Path,
        metavar="C.png",
        help="similarity and cross matrices in one picture, 16-bit grayscale",
    )
    parser.add_argument(
        "--annotated", type=Path, metavar="C.png", help="the same picture, with the phases named"
    )


def execute(options: argparse.Namespace) -> int:
    body = comparison.run(options.profiles, options.output, options.matrix, options.annotated)
    if options.json:
        printing.document(body)
        return 0
    _say(body)
    return 0


def _say(body: dict[str, Any]) -> None:
    print(
        f"{body['verdict']}: {body['unknown']:.1%} of the instructions are in phases that another "
        f"input does not know, {body['allowed']:.0%} allowed"
    )
    for pair in body["pairs"]:
        of, against = (body["inputs"][pair[side]]["profile"] for side in ("of", "against"))
        print(
            f"  {of} against {against}: {pair['unknown']:.1%} unknown, {pair['scaled']:.1%} only "
            f"within other phases, {pair['shift']:.1%} moved"
        )
    for number, found in enumerate(body["inputs"]):
        for phase in found["phases"]:
            hottest = phase["hottest"]["function"] or "unknown code"
            print(
                f"  family {phase['family']}  input {number}  phase {phase['id']}  "
                f"{phase['weight']:7.2%}  {phase['kind']:9}  mostly {hottest}"
            )
