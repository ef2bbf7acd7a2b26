# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that nobody here wrote, from Debian's source to a report: `make corpus`.

Programs are done in the order of how quick they were the last time. What is done is kept in
build/corpus/, so a run that was broken off goes on where it was; a program's failure stops none.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

import corpus_table
from corpus_run import NOT_RUN, Limits, Result, corpus, run

from kadence import program, resources

RESULT = "corpus.json"
# To build, profile and run; they are done first, and `make test` runs them.
QUICKEST = ("lz4", "seqtk", "bc")


def main() -> int:
    options = _options()
    names = options.programs or programs()
    unknown = sorted(set(names) - set(programs()))
    if unknown:
        print(f"corpus: no program {unknown[0]}; there are {', '.join(programs())}")
        return 1
    place = options.output.resolve()
    limits = Limits(options.limit, options.rounds, not options.own)
    ordered = sorted(names, key=lambda each: _order(place, each))
    results = [kept(place, name) for name in ordered] if options.table else []
    for name in () if options.table else ordered:
        print(f"corpus: {name} …", file=sys.stderr, flush=True)
        results.append(_keep(place, run(name, place, limits)))
        print(f"corpus: {_said(results[-1])}", file=sys.stderr, flush=True)
    text = corpus_table.table(results)
    print(text)
    (place / "table.txt").write_text(f"{text}\n", encoding="utf-8")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="corpus", description=__doc__)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--output", type=Path, default=resources.home() / "build" / "corpus")
    parser.add_argument("--limit", type=float, default=1800, help="seconds for each program")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--table", action="store_true", help="run nothing, print what is kept")
    parser.add_argument("--own", action="store_true", help="this machine's own kernel alone")
    return parser.parse_args()


def programs() -> list[str]:
    """Every folder of the corpus."""
    return sorted(path.parent.name for path in corpus().glob(f"*/{program.FILE_NAME}"))


def _order(place: Path, name: str) -> tuple[int, float]:
    """The quickest first, then by the time that it took before; what is new comes last."""
    try:
        seconds = float(json.loads((place / name / RESULT).read_text())["longest"])
    except (OSError, ValueError, KeyError):
        seconds = float("inf")
    return (QUICKEST.index(name) if name in QUICKEST else len(QUICKEST), seconds)


def kept(place: Path, name: str) -> Result:
    """What the last run of a program brought."""
    try:
        document = json.loads((place / name / RESULT).read_text())
    except (OSError, ValueError):
        return Result(name, "none", refusal=NOT_RUN)
    longest = document.pop("longest")
    return Result(**document | {"seconds": longest})


def _keep(place: Path, result: Result) -> Result:
    """Its time is that of the longest run: later ones find much done."""
    path = place / result.name / RESULT
    try:
        before = float(json.loads(path.read_text())["longest"])
    except (OSError, ValueError, KeyError):
        before = 0.0
    document = asdict(result) | {"longest": max(before, result.seconds)}
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return result


def _said(result: Result) -> str:
    what = result.refusal or ("report" if result.report else "measured here")
    return f"{result.name}: {what} ({result.stage}, {result.seconds:.0f} s)"


if __name__ == "__main__":
    sys.exit(main())
