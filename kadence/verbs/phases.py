# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence phases`: find the phases in a profile."""

import argparse
from pathlib import Path
from typing import Any

from kadence.phases import analysis


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "profiles",
        type=Path,
        nargs="+",
        metavar="PROFILE.kprof",
        help="one, or that of each rank of a parallel program",
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="PHASES.json", help="where to write"
    )
    parser.add_argument(
        "--matrix", type=Path, metavar="P.png", help="similarity matrix, 16-bit grayscale"
    )
    parser.add_argument(
        "--annotated", type=Path, metavar="P.png", help="similarity matrix with the phases named"
    )
    parser.add_argument(
        "--phases",
        type=int,
        metavar="N",
        help="find exactly N phases (default: as many as the profile shows)",
    )


def execute(options: argparse.Namespace) -> int:
    body = analysis.run(
        options.profiles, options.output, options.matrix, options.annotated, options.phases
    )
    count = len(body["phases"])
    print(
        f"{count} phase{'' if count == 1 else 's'} in {body['intervals']} intervals{_outside(body)}"
    )
    if "waiting" in body:
        print(
            f"in {len(body['waiting'])} intervals ({body['waiting_weight']:.2%} of all "
            "instructions) a thread spun, waiting for another; they are in no phase"
        )
    for phase in body["phases"]:
        hottest = phase["hottest"][0]
        print(
            f"  {phase['id']}  {phase['weight']:7.2%}  {phase['kind']:9}  "
            f"interval {phase['representative']}, mostly {hottest['function'] or 'unknown code'}"
        )
    return 0


def _outside(body: dict[str, Any]) -> str:
    why = body["outside"]["why"]
    if why:
        return f"; {why}"
    count = len(body["transitions"])
    return f", and {count} transitions ({body['transition_weight']:.2%})" if count else ""
