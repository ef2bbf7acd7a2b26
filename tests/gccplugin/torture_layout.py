# SPDX-License-Identifier: GPL-2.0-or-later
"""GCC's own torture programs, laid out by their own counts: they end and print as before.

python tests/gccplugin/torture_layout.py -O2 [FIRST [LAST]]    # of the suite, by number
"""

import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from torture import WORKERS, Outcome, Program, build_and_run, programs, summarise

from kadence.base.resources import built
from kadence.phases.plan import layout
from kadence.profiler import kprof


def plan_of(profile: Path, output: Path) -> Path:
    """A plan that has nothing but the counts of this profile."""
    counts = layout.of_profile(kprof.read(profile)).described()
    body = {"schema": "kadence.plan", "version": 6, "policies": [], "markers": []}
    output.write_text(json.dumps(body | {"layout": counts}))
    return output


def compare(program: Program, level: str) -> Outcome:
    """Compile and run `program` plainly, counting, and laid out by what was counted."""
    options = [level, "-w", *program.options]
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        profile = scratch / "counted.kprof"
        plain = build_and_run(program.sources, options, scratch / "plain")
        _profile(program, options, scratch / "counted", profile)
        if not profile.exists():
            return Outcome(program.name, level, "", True)
        plan = plan_of(profile, scratch / "plan.json")
        complaints = []
        for more in ("-fchecking", "-flto"):
            laid_out = build_and_run(
                program.sources,
                [*options, more],
                scratch / "laid-out",
                built("bin/kadence-cc"),
                {"KADENCE_PLAN": str(plan)},
            )
            if laid_out != plain:
                complaints.append(f"plain {plain}, laid out with {more} {laid_out}")
        failed = plain.stage != "run" or plain.status != 0
        return Outcome(program.name, level, "; ".join(complaints), failed)


def _profile(program: Program, options: Sequence[str], target: Path, profile: Path) -> None:
    environment = {"KADENCE_MODE": "profile", "KADENCE_PROFILE_OUTPUT": str(profile)}
    build_and_run(program.sources, options, target, built("bin/kadence-cc"), environment)


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
