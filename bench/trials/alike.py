# SPDX-License-Identifier: GPL-2.0-or-later
"""Real runs in which the tried policy changes nothing: how many of them claim an effect.

The runs are made two at a time on this machine's own kernel, so each is the other's noise.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.base.keeping import print_and_keep, with_disturbance
from bench.trials import found
from kadence.base import resources
from kadence.base.errors import ToolError
from kadence.measurement.measure import RECORD

VISITS = 600
AT_ONCE = 2
GOAL = 0.95  # of the runs claim nothing


def run(number: int) -> Path:
    """Run the program once; returns its record."""
    program = resources.built("bench/trials/planted/alike")
    path = resources.home() / "build/bench/trials/alike" / f"{number}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    environment = os.environ | {RECORD: str(path)}
    done = subprocess.run([program, str(VISITS)], env=environment, capture_output=True, check=False)
    if done.returncode:
        raise ToolError(f"{program} ended with status {done.returncode}")
    return path


def lines(runs: int) -> Iterator[str]:
    """Yields what the runs claim."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        records = list(found.records(list(pool.map(run, range(runs)))))
    silent = sum(not found.claims(one) for one in records)
    blocks = sum(len(one.blocks) for one in records)
    tried = sum(bool(one.blocks) for one in records)
    dropped = sum(map(found.is_dropped, records))
    verdict = "met" if records and silent >= GOAL * len(records) else "MISSED"
    yield f"all arms alike: {runs} runs of {VISITS} visits, {AT_ONCE} at a time"
    yield f"  {silent} of {len(records)} runs claim nothing (goal: {GOAL:.0%}): {verdict}"
    yield f"  {tried} runs tried the policy, in {blocks} blocks; {dropped} turned it off"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    options = parser.parse_args()
    print_and_keep(with_disturbance(lines(options.runs)), "trials-alike.txt")
    return 0


if __name__ == "__main__":
    sys.exit(main())
