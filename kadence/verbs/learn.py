# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence learn`: fold what runs found out about their policies into the plan."""

import argparse
import sys
from pathlib import Path

from kadence.base import printing
from kadence.phases.plan.contention import counted
from kadence.phases.plan.trials import Learned, MachineKind
from kadence.trials import findings, learning
from kadence.trials.combining import NORMAL


def configure(parser: argparse.ArgumentParser) -> None:
    printing.add_json(parser)
    parser.add_argument("plan", type=Path, metavar="PLAN.json")
    parser.add_argument(
        "records",
        type=Path,
        nargs="+",
        metavar="RECORD",
        help="files that adapted programs wrote to KADAPT_TRIALS_RECORD",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="PLAN.json",
        help="the plan with what was learned; may be the same file",
    )


def execute(options: argparse.Namespace) -> int:
    found = learning.learn(options.plan, options.records, options.output)
    if options.json:
        printing.document(found)
        return 0
    for note in found.notes:
        print(f"kadence: {note}", file=sys.stderr)
    for learned in found.trials.learned:
        print(_told(learned))
    total = sum(len(run.records) for run in found.trials.runs)
    print(f"{options.output}: {counted(found.records, 'new record')}, {total} in all")
    return 0


def _told(learned: Learned) -> str:
    effect, half = learned.found.effect, NORMAL * learned.found.error
    low, high = effect - half, effect + half
    arm = learned.arm
    name = findings.name_of(arm.policy, arm.level, arm.phase)
    where = f"{name} on {described(learned.machine)}"
    counts = f"{counted(learned.found.blocks, 'block')} of {counted(learned.records, 'record')}"
    if low <= 0 <= high:
        ends = f"{findings.percent(low):+.1f} to {findings.percent(high):+.1f} %"
        return f"{where}: nothing measurable ({ends}), {counts}"
    word = "less" if effect < 0 else "more"
    size, _, interval = findings.share(effect, low, high).partition(" (")
    return f"{where}: {size} {word} time ({interval}, {counts}"


def described(machine: MachineKind) -> str:
    """A kind of machine in a few words."""
    processor = machine.processor or "an unknown processor"
    return f"{processor}, Linux {machine.kernel}, {machine.memory_gib} GiB"
