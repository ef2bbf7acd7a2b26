# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence plan`: decide how to adapt each phase, and where the program announces it."""

import argparse
from pathlib import Path
from typing import Any

from kadence.base import printing, terminal
from kadence.base.errors import KadenceError, UsageError
from kadence.phases import planning
from kadence.phases.plan import io_planning, layout, memory_planning, reduction, trials
from kadence.phases.plan.contention import counted
from kadence.prediction.prediction import Timed
from kadence.specialize import foresight, predicting, standalone
from kadence.specialize.standalone import Wanted

ADVICE = "profile what the job will run, or plan all phases with --force"


def configure(parser: argparse.ArgumentParser) -> None:
    printing.add_json(parser)
    parser.usage = (
        "kadence plan PHASES.json -o PLAN.json [options] [--explain] [--predict] "
        "[-- PROGRAM [ARGUMENT ...]]"
    )
    parser.epilog = (
        "PROGRAM is the profiled command: --explain and --predict run it here, once, to measure "
        "it; without it they guess"
    )
    parser.add_argument("phases", type=Path, metavar="PHASES.json")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="PLAN.json", help="the plan"
    )
    _configure_policies(parser)
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="COMPARE.json",
        help="comparison with other inputs: validates the markers; of an input-dependent program, "
        "only what the inputs have in common is planned",
    )
    parser.add_argument(
        "--needs",
        type=Path,
        metavar="NEEDS.json",
        help="needs of all processes that the program's commands start (kadence kernel needs)",
    )
    parser.add_argument(
        "--layout",
        type=Path,
        metavar="P.kprof",
        help="let the compiler lay out the code by this profile, which the program recorded itself "
        "(KADENCE_MODE=profile)",
    )
    parser.add_argument(
        "--force", action="store_true", help="plan all phases of an input-dependent program"
    )
    _configure_explanation(parser)


def _configure_policies(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--processors",
        type=int,
        default=planning.DEFAULT_PROCESSORS,
        metavar="N",
        help="processors the program will have (default: %(default)s, a User-Mode Linux guest)",
    )
    parser.add_argument(
        "--quantum",
        type=float,
        default=planning.DEFAULT_QUANTUM,
        metavar="SECONDS",
        help="the long quantum of compute phases and of unseen phases (default: %(default)g)",
    )
    parser.add_argument(
        "--io",
        choices=io_planning.MODES,
        default=io_planning.STRICT,
        help="rings and batches for small writes; strict (the default): they behave exactly like "
        "plain calls; off: none",
    )
    parser.add_argument(
        "--memory",
        choices=memory_planning.MODES,
        default=memory_planning.DEFAULT,
        help="default: populate memory that is sure to be touched, and keep memory that is often "
        "freed and allocated; off: leave memory as it is",
    )
    parser.add_argument(
        "--trials",
        choices=trials.MODES,
        default=trials.ON,
        help="on (the default): the adapted program tries its policies against plain behaviour, "
        "and keeps those that help; off: it trusts the plan",
    )


def _configure_explanation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--explain",
        action="store_true",
        help="begin with the most that any adaptation could gain, by phase, and what would take it",
    )
    parser.add_argument(
        "--predict",
        action="store_true",
        help="end with the predicted cost on each kernel, item by item, and the error",
    )
    parser.add_argument(
        "--runs", type=int, default=1, metavar="N", help="how often to run PROGRAM (default: 1)"
    )
    parser.add_argument(
        "--flags",
        type=Path,
        metavar="DIR",
        help="with --explain: also measure the compiler flags of DIR/kadence.toml, in NAME.kadence",
    )


def execute(options: argparse.Namespace) -> int:
    wanted = _wanted(options)
    if options.force and not options.compare:
        raise UsageError("--force overrules a comparison; name one with --compare")
    comparison = planning.Comparison(options.compare, options.force) if options.compare else None
    limits = planning.Options(
        options.processors, options.quantum, options.io, options.memory, options.trials
    )
    body = planning.run(
        options.phases, options.output, limits, comparison, options.needs, options.layout
    )
    terminal.hint("kadence", "kernel", "build", "--plan", options.output)
    if options.json:
        explained = wanted and standalone.explain(options.phases, body, wanted)
        printing.document(body | ({"explanation": explained} if explained else {}))
        return 0
    if wanted is None:
        _tell(options.phases, body)
        return 0
    try:
        found = standalone.explain(options.phases, body, wanted)
    except (KadenceError, KeyboardInterrupt):
        _tell(options.phases, body)  # the plan is made, whatever became of its explanation
        raise
    if options.explain:
        print("\n".join(found.lines()))
    _tell(options.phases, body, found.timed)
    if options.predict:
        print("\n".join(predicting.lines(found.explanation)))
    return 0


def _wanted(options: argparse.Namespace) -> Wanted | None:
    """What is to be measured for an explanation; None if none was asked for."""
    if not (options.explain or options.predict):
        if options.command is not None or options.flags or options.runs != 1:
            raise UsageError("a command, --runs and --flags are for --explain and --predict")
        return None
    if options.flags and not options.explain:
        raise UsageError("--flags is for --explain")
    if options.command == []:
        raise UsageError("there is no command after `--`; name the profiled one")
    if options.runs < 1:
        raise UsageError(f"{options.runs} runs measure nothing; ask for 1 or more")
    return Wanted(tuple(options.command or ()), options.runs, options.flags)


def _tell(phases: Path, body: dict[str, Any], here: Timed | None = None) -> None:
    _tell_reduction(body)
    _tell_level(body["level"])
    _tell_policies(body)
    _tell_io(body)
    _tell_memory(body)
    _tell_trials(body["trials"])
    _tell_layout(body["layout"])
    _tell_announcement(body["announcement"])
    for sentence in foresight.of_plan(phases, body, here):
        print(sentence)


def _tell_reduction(body: dict[str, Any]) -> None:
    for reason in reduction.told(body):
        print(f"reduced: {reason}; {ADVICE}")


def _tell_level(level: dict[str, Any]) -> None:
    if level["joined"]:
        print(f"level: {level['reason']}")


def _tell_policies(body: dict[str, Any]) -> None:
    later = {member for _, *members in body["level"]["joined"] for member in members}
    for policy in body["policies"]:
        if policy["phase"] in later:
            continue  # reported with the first phase that it is joined with
        seconds = policy["quantum_ns"] / planning.NANOSECONDS
        quantum = f"quantum {seconds:g} s" if seconds else "default quantum"
        print(f"phase {policy['phase']}: {quantum}; {policy['evidence']}")
    for marker in body["markers"]:
        print(f"phase {marker['phase']}: marker in {marker['function']}; {marker['evidence']}")
    for refusal in body["refused"]:
        # The policy's evidence already says why there is no long quantum.
        if refusal["what"] == "marker":
            print(f"phase {refusal['phase']}: no marker: {refusal['reason']}")


def _tell_io(body: dict[str, Any]) -> None:
    paths = body["io"]
    if paths["reason"]:
        print(f"no I/O paths: {paths['reason']}")
    for site in paths["sites"]:
        print(f"phase {site['phase']}: I/O path in {site['function']}; {site['evidence']}")
    for refusal in body["refused"]:
        if refusal["what"] == io_planning.REFUSED:
            print(f"phase {refusal['phase']}: no {refusal['what']}: {refusal['reason']}")


def _tell_memory(body: dict[str, Any]) -> None:
    memory = body["memory"]
    if memory["reason"]:
        print(f"no treatment of memory: {memory['reason']}")
    for site in memory["sites"]:
        treatments = ", ".join(site["treatments"])
        print(f"phase {site['phase']}: {treatments} in {site['function']}; {site['evidence']}")
    if memory["ahead"]:
        print(f"populated ahead: {', '.join(memory['ahead'])}")
    for refusal in body["refused"]:
        if refusal["what"] == memory_planning.REFUSED:
            print(f"memory as it is: {refusal['reason']}")


def _tell_trials(tried: dict[str, Any]) -> None:
    for phase in tried["phases"]:
        print(
            f"phase {phase['phase']}: tries {', '.join(phase['policies'])} in "
            f"{counted(phase['visits'], 'visit')}"
        )


def _tell_layout(laid_out: dict[str, Any] | None) -> None:
    if laid_out:
        print(layout.told(laid_out))


def _tell_announcement(found: dict[str, Any]) -> None:
    print(f"markers, chosen on {_announced(found['chosen_on'])}")
    for figures in found["validated_on"]:
        print(f"markers, validated on {_announced(figures)}")
    for phase in found["withdrawn"]:
        print(f"phase {phase}: its marker is counted above, but not used")


def _announced(figures: dict[str, Any]) -> str:
    what = f"`{' '.join(figures['program'])}`" if figures["program"] else "an unnamed program"
    unmarked = f"{figures['unmarked']} of {figures['boundaries']} boundaries are unmarked"
    if figures["announced"] is None:
        return f"{what}: {unmarked}"
    elsewhere = "none" if figures["false"] is None else f"{figures['false']:.1%}"
    return (
        f"{what}: {figures['announced']:.1%} of the marked boundaries are announced, {elsewhere} "
        f"of the firings are elsewhere, {figures['firings_per_second']:.3g} firings a second; "
        f"{unmarked}"
    )
