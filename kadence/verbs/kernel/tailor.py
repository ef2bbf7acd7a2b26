# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence kernel tailor`: build a kernel for one program and prove it on the program."""

import argparse
from pathlib import Path

from kadence.base import printing
from kadence.base.stages import Stages, alone_in
from kadence.kernel.proof import FAILED, REPAIRED, Proof
from kadence.kernel.tailoring import DEFAULT_BUDGET
from kadence.program import program
from kadence.program.places import Places, claim
from kadence.specialize import pipeline
from kadence.specialize.pipeline import Prepared, Wish
from kadence.verbs.kernel import wishes


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the program and its kernel."""
    printing.add_json(parser)
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder with a kadence.toml")
    parser.add_argument("-o", "--output", type=Path, help="folder for all results (NAME.kadence)")
    parser.add_argument(
        "--budget",
        type=int,
        default=DEFAULT_BUDGET,
        help="builds that a repair may take (%(default)s); with a larger budget, the repair also "
        "tries which symbols are not needed",
    )
    parser.add_argument(
        "--force", action="store_true", help="plan all phases of an input-dependent program"
    )
    wishes.add(parser)
    wishes.add_layout(parser)


def execute(options: argparse.Namespace) -> int:
    """Return 1 if no tailored kernel serves the program."""
    described = program.read(options.folder)
    output = (options.output or Path(f"{described.name}.kadence")).resolve()
    places = Places(output, described.name)
    claim(places.output, described.folder)
    wish = Wish(
        target=options.target,
        series=options.series,
        trace=options.trace,
        budget=options.budget,
        mitigations=options.mitigations,
        force=options.force,
        overrides=tuple(sorted(options.overrides)),
        layout=options.layout,
    )
    with alone_in(places.output):
        prepared = pipeline.prepare(described, places, Stages(places.output), wish)
    if options.json:
        kernel = prepared.kernels.get("tailored")
        made = {"id": kernel.id, "image": kernel.image} if kernel else None
        printing.document({"kernel": made, "proof": prepared.proof})
    else:
        _say(prepared)
    return 1 if prepared.proof.outcome == FAILED else 0


def _say(prepared: Prepared) -> None:
    proof = prepared.proof
    if proof.outcome == FAILED:
        print(f"the generic kernel serves {proof.name}: {proof.reason}")
        return
    kernel = prepared.kernels["tailored"]
    print(f"{kernel.id}  {kernel.image}")
    print(f"proven on {proof.name}: its check passes and its outputs are the generic kernel's")
    if proof.outcome == REPAIRED:
        _say_repairs(proof)


def _say_repairs(proof: Proof) -> None:
    builds = "1 build" if proof.builds == 1 else f"{proof.builds} builds"
    print(f"repaired in {builds}; {proof.reason}")
    for repair in proof.repairs:
        print(f"  CONFIG_{repair.symbol}={repair.value}: {repair.reason}")
    if not proof.minimal:
        print("  (with a larger --budget, the repair tries whether all of them are needed)")
    print("\nrules that would have requested them:\n")
    print("\n\n".join(repair.rule for repair in proof.repairs))
