# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs from outside this project, from Debian's source to a report: `make corpus`.

Programs that were quicker the last time run first. Finished steps stay in build/corpus/, so an
interrupted run continues where it stopped. The failure of one program does not stop the others.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from bench.corpus import corpus_table
from bench.corpus.corpus_run import NOT_RUN, Limits, Result, corpus, run
from kadence.base import resources
from kadence.program import program

RESULT = "corpus.json"
# The quickest to build, profile and run. They run first, and `make test` runs them.
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
    parser.add_argument("--table", action="store_true", help="run nothing, print kept results")
    parser.add_argument("--own", action="store_true", help="only this machine's own kernel")
    return parser.parse_args()


def programs() -> list[str]:
    """Returns the names of all folders of the corpus."""
    return sorted(path.parent.name for path in corpus().glob(f"*/{program.FILE_NAME}"))


def _order(place: Path, name: str) -> tuple[int, float]:
    """Returns the sort key: the QUICKEST first, then by earlier time; new programs come last."""
    try:
        seconds = float(json.loads((place / name / RESULT).read_text())["longest"])
    except (OSError, ValueError, KeyError):
        seconds = float("inf")
    return (QUICKEST.index(name) if name in QUICKEST else len(QUICKEST), seconds)


def kept(place: Path, name: str) -> Result:
    """Returns the kept result of a program's last run."""
    try:
        document = json.loads((place / name / RESULT).read_text())
    except (OSError, ValueError):
        return Result(name, "none", refusal=NOT_RUN)
    longest = document.pop("longest")
    return Result(**document | {"seconds": longest})


def _keep(place: Path, result: Result) -> Result:
    """Keep a result, with the time of the longest run: later runs find many steps finished."""
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
