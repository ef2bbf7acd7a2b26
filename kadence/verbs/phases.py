# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence phases`: find the phases in a profile."""

import argparse
from pathlib import Path
from typing import Any

from kadence.base import printing, terminal
from kadence.phases import analysis


def configure(parser: argparse.ArgumentParser) -> None:
    printing.add_json(parser)
    parser.add_argument(
        "profiles",
        type=Path,
        nargs="+",
        metavar="PROFILE.kprof",
        help="one profile, or one for each rank of a parallel program",
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="PHASES.json", help="the phases"
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
    if options.json:
        printing.document(body)
        return 0
    _say(options, body)
    return 0


def _say(options: argparse.Namespace, body: dict[str, Any]) -> None:
    count = len(body["phases"])
    print(
        f"{count} phase{'' if count == 1 else 's'} in {body['intervals']} intervals{_outside(body)}"
    )
    if "waiting" in body:
        print(
            f"in {len(body['waiting'])} intervals ({body['waiting_weight']:.2%} of all "
            "instructions) a thread spun, waiting for another; these intervals are in no phase"
        )
    for phase in body["phases"]:
        hottest = phase["hottest"][0]
        print(
            f"  {phase['id']}  {phase['weight']:7.2%}  {phase['kind']:9}  "
            f"interval {phase['representative']}, mostly {hottest['function'] or 'unknown code'}"
        )
    _tell_hierarchy(body)
    stem = options.output.name.removesuffix(".json").removesuffix(".phases")
    plan = options.output.with_name(f"{stem}.plan.json")
    terminal.hint("kadence", "plan", options.output, "-o", plan)


def _tell_hierarchy(body: dict[str, Any]) -> None:
    """Print the dendrogram: each joining, and the boundaries that markers announce after it."""
    hierarchy = body["hierarchy"]
    if not hierarchy["joinings"]:
        return
    print("joined, the nearest first, and the boundaries that markers announce after each:")
    joinings = [
        f"{joining['phase']} = {joining['of'][0]} + {joining['of'][1]}, {joining['distance']:.2f}"
        for joining in hierarchy["joinings"]
    ]
    for number, (joined, level) in enumerate(
        zip(["none", *joinings], hierarchy["levels"], strict=True)
    ):
        print(
            f"  {joined:19}  {level['phases']:2} left  {level['announced']:6} of "
            f"{level['boundaries']:6}, {level['kept']:4.0%} kept"
            f"{', taken by the plan' if number == hierarchy['taken'] else ''}"
        )


def _outside(body: dict[str, Any]) -> str:
    why = body["outside"]["why"]
    if why:
        return f"; {why}"
    count = len(body["transitions"])
    return f", and {count} transitions ({body['transition_weight']:.2%})" if count else ""
