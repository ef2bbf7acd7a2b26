# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence plan`: decide which adaptation belongs to which phase, and where it is announced."""

import argparse
from pathlib import Path

from kadence.phases import planning


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("phases", type=Path, metavar="PHASES.json")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="PLAN.json", help="where to write"
    )
    parser.add_argument(
        "--processors",
        type=int,
        default=planning.DEFAULT_PROCESSORS,
        metavar="N",
        help="processors the program will have (default: %(default)s, a User-Mode Linux guest)",
    )
    parser.add_argument(
        "--quantum",
        type=float,
        default=planning.DEFAULT_QUANTUM,
        metavar="SECONDS",
        help="the long quantum of compute phases (default: %(default)g)",
    )


def execute(options: argparse.Namespace) -> int:
    body = planning.run(options.phases, options.output, options.processors, options.quantum)
    for policy in body["policies"]:
        seconds = policy["quantum_ns"] / planning.NANOSECONDS
        quantum = f"quantum {seconds:g} s" if seconds else "default quantum"
        print(f"phase {policy['phase']}: {quantum}; {policy['evidence']}")
    for marker in body["markers"]:
        print(f"phase {marker['phase']}: marker in {marker['function']}; {marker['evidence']}")
    for refusal in body["refused"]:
        # Why there is no long quantum is in the policy's evidence already.
        if refusal["what"] == "marker":
            print(f"phase {refusal['phase']}: no marker: {refusal['reason']}")
    return 0
