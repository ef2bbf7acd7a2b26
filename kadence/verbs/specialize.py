# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence specialize`: from a program's folder to a measured report."""

import argparse
from pathlib import Path

from kadence.base import printing
from kadence.boot.request import TARGETS
from kadence.kernel.tailoring import DEFAULT_BUDGET
from kadence.program import program
from kadence.report import report
from kadence.specialize.pipeline import Wish
from kadence.specialize.specialize import FEWEST_ROUNDS, specialize
from kadence.verbs.kernel import wishes

PARTLY = 3  # there is a report, but a part was left out


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    printing.add_json(parser)
    parser.epilog = (
        "exit status: 0 if all was built, proven and measured; 3 if there is a report, but a part "
        "was left out, as its first lines say; 1 if there is no report, or if outputs were not the "
        "same everywhere"
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder with a kadence.toml")
    parser.add_argument("-o", "--output", type=Path, help="folder for all results (NAME.kadence)")
    parser.add_argument(
        "--rounds",
        type=int,
        default=FEWEST_ROUNDS,
        help=f"number of measurements of each combination ({FEWEST_ROUNDS})",
    )
    parser.add_argument(
        "--target",
        choices=TARGETS,
        help="the kernels' target (default: the first that works on this machine, or no kernel if "
        "the program is predicted to lose by it)",
    )
    parser.add_argument(
        "--trace", type=Path, metavar="P.ktrace.json", help="the kernel code that the program ran"
    )
    wishes.add_series(parser)
    parser.add_argument(
        "--budget",
        type=int,
        default=DEFAULT_BUDGET,
        help="builds that a tailored kernel's repair may take (%(default)s); with a larger budget, "
        "the repair also tries which symbols are not needed",
    )
    parser.add_argument(
        "--force", action="store_true", help="plan all phases of an input-dependent program"
    )
    parser.add_argument(
        "--no-flags",
        action="store_true",
        help="do not measure the compiler flags of kadence.toml (-O3, -march=native)",
    )
    parser.add_argument(
        "--again", action="store_true", help="repeat every stage, even if nothing has changed"
    )


def execute(options: argparse.Namespace) -> int:
    """Return 1 if outputs were not the same everywhere, PARTLY if a part was left out."""
    output = options.output or Path(f"{program.read(options.folder).name}.kadence")
    wish = Wish(
        series=options.series,
        trace=options.trace,
        budget=options.budget,
        force=options.force,
    )
    document = specialize(
        *(options.folder, output, options.rounds, options.again, wish, options.target),
        flags=not options.no_flags,
    )
    if options.json:
        printing.document(document)
    else:
        print(report.table(document))
        print(f"\n{output / 'report.html'}")
    if document["failures"]:
        return 1
    return PARTLY if document["without"] else 0
