# SPDX-License-Identifier: GPL-2.0-or-later
"""GCC's own torture programs in profile mode: they end and print as without counting.

python tests/gccplugin/torture_counting.py -O2 [FIRST [LAST]]    # of the suite, by number
"""

import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from torture import WORKERS, Behaviour, Outcome, Program, build_and_run, programs, summarise

from kadence.base.resources import built

MODES = ("fast", "exact")


def compare(program: Program, level: str) -> Outcome:
    """Compile and run `program` without counting and in both counting modes."""
    options = [level, "-w", *program.options]
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        plain = build_and_run(program.sources, options, scratch / "plain")
        complaints = []
        for mode in MODES:
            counted, left = _counted(program, options, scratch, mode)
            if counted != plain:
                complaints.append(f"plain {plain}, {mode} {counted}")
            elif plain == Behaviour("run", 0) and not left:
                complaints.append(f"{mode} left no profile")
        failed = plain.stage != "run" or plain.status != 0
        return Outcome(program.name, level, "; ".join(complaints), failed)


def _counted(
    program: Program, options: Sequence[str], scratch: Path, mode: str
) -> tuple[Behaviour, bool]:
    """The behaviour of the counting program, and whether it wrote a profile."""
    profile = scratch / f"{mode}.kprof"
    behaviour = build_and_run(
        program.sources,
        # With -fchecking, the compiler checks its data structures after every pass.
        [*options, "-fchecking"],
        scratch / mode,
        built("bin/kadence-cc"),
        {
            "KADENCE_MODE": "profile",
            "KADENCE_PROFILE": mode,
            "KADENCE_PROFILE_OUTPUT": str(profile),
        },
    )
    return behaviour, profile.exists()


def run(chosen: Iterable[Program], level: str) -> list[Outcome]:
    """Compare the chosen programs, WORKERS at a time."""
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(lambda program: compare(program, level), chosen))


def main(level: str, first: str = "0", last: str = "") -> int:
    """Run a part of the suite and print a summary."""
    outcomes = run(programs()[int(first) : int(last) if last else None], level)
    print(summarise(outcomes))
    return any(outcome.complaint for outcome in outcomes)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
