# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence tune`: try what cannot change inside a run, and keep what surely makes it quicker."""

import argparse
from pathlib import Path

from kadence.base import printing
from kadence.base.errors import UsageError
from kadence.program import program
from kadence.slurm import site
from kadence.tune import candidates, conditions, result, runs, shares
from kadence.tune.candidates import Candidate
from kadence.tune.tune import Wish, tune

DEFAULT_BUDGET = 1800.0
SUFFIX = ".toml"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    printing.add_json(parser)
    parser.epilog = (
        "exit status: 0 if the tune was done, whether there is a winner or the answer is to leave "
        "the program as it is; 1 if there is no result"
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="folder with a kadence.toml")
    parser.add_argument("-o", "--output", type=Path, help="folder for all results (NAME.kadence)")
    parser.add_argument(
        "--candidates",
        metavar="NAMES|FILE.toml",
        help="names or dimensions from the list, with commas between them, or a list of your own "
        "(default: all that Kadence knows)",
    )
    parser.add_argument(
        "--budget",
        type=float,
        default=DEFAULT_BUDGET,
        metavar="SECONDS",
        help="the most time for builds and runs of candidates (%(default)g)",
    )
    parser.add_argument(
        "--by",
        choices=[runs.SECONDS, runs.PROCESSOR],
        default=runs.SECONDS,
        help="what is compared: the time, or the processor time of all processes (%(default)s)",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        dest="everything",
        help="race candidates that are predicted to gain nothing, too",
    )
    parser.add_argument("--seed", type=int, help="of the order of runs (default: a new one)")
    parser.add_argument("--resume", action="store_true", help="go on where a tune was interrupted")
    parser.add_argument("--again", action="store_true", help="forget the rounds of an earlier tune")
    parser.add_argument(
        "--site", type=Path, default=site.DEFAULT, help="the administrator's rules (%(default)s)"
    )


def execute(options: argparse.Namespace) -> int:
    """Print the table and the verdict."""
    output = options.output or Path(f"{program.read(options.folder).name}.kadence")
    if not options.budget > 0:
        raise UsageError(f"a budget of {options.budget:g} s is none; give --budget SECONDS above 0")
    if options.resume and options.again:
        raise UsageError("--resume goes on and --again begins anew; give one of them")
    wish = Wish(
        candidates=_candidates(options.candidates),
        budget=options.budget,
        by=options.by,
        seed=options.seed,
        resume=options.resume,
        again=options.again,
        everything=options.everything,
        mitigations_off=_mitigations_off(options.site),
    )
    document = tune(options.folder, output, wish, _command(options, output))
    if options.json:
        printing.document(document)
        return 0
    print(result.table(document))
    print(f"\n{result.place(output, document['program']['name'])}")
    return 0


def _candidates(asked: str | None) -> list[Candidate]:
    known = {"needs": conditions.KNOWN, "work": shares.WORKS}
    if asked is not None and asked.endswith(SUFFIX):
        return candidates.read(Path(asked), known)
    found = candidates.read(candidates.FILE, known)
    return found if asked is None else candidates.chosen(found, asked.split(","))


def _mitigations_off(file: Path) -> bool:
    """Whether the site allows kernels without mitigations; without its file it does not."""
    return file.exists() and site.read(file).mitigations_off


def _command(options: argparse.Namespace, output: Path) -> list[str]:
    words = ["kadence", "tune", str(options.folder), "-o", str(output)]
    words += ["--candidates", options.candidates] if options.candidates else []
    words += ["--all"] if options.everything else []
    words += ["--seed", str(options.seed)] if options.seed is not None else []
    words += ["--site", str(options.site)] if options.site != site.DEFAULT else []
    return [*words, "--budget", f"{options.budget:g}", "--by", options.by]
