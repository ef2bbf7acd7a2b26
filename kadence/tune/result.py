# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of a tune: tune.json, the table, and one sentence."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence.base import codec
from kadence.base.statistics import Estimate, median
from kadence.measurement.measure import ADAPTED, PLAIN
from kadence.measurement.neighbours import NOTICEABLE_SHARE
from kadence.tune import race, runs
from kadence.tune.candidates import JOINED, Candidate
from kadence.tune.course import NO_BUDGET, SINGLE, Course, find, told
from kadence.tune.model import Predicted
from kadence.tune.state import Entry

WINNER, LEAVE_IT = "winner", "leave it"
QUANTITIES = {runs.SECONDS: "time", runs.PROCESSOR: "processor time"}
# Outcomes of a candidate.
NOT_RACED, REFUSED, DROPPED, OUTRUN, UNCONFIRMED, WON = (
    *("not raced", "refused", "dropped", "outrun"),
    *("not confirmed", "winner"),
)

# /proc/sys/kernel/randomize_va_space, if stacks, mappings and heaps have random addresses.
RANDOMISED = "2"
NOT_RANDOMISED = (
    "This kernel does not randomise addresses (kernel.randomize_va_space is not 2), so the length "
    "of the environment alone may have changed the program's speed."
)

Body = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """What became of a candidate."""

    name: str
    summary: str
    predicted: Predicted | None
    outcome: str
    reason: str
    raced: Estimate | None  # at all looks together; of the last race that it was in


@dataclass(frozen=True)
class Verdict:
    """The last line, and how to use the winner."""

    outcome: str
    sentence: str
    apply: tuple[str, ...]
    ratio: Estimate | None  # from the confirming rounds
    memory: float | None  # the peak of resident memory as a multiple of the plain one's


def rows(course: Course, verdict: "Verdict") -> list[Row]:
    """All candidates in the list's order, then combinations."""
    found = [_row(course, entry, verdict) for entry in course.state.entries]
    combined = [
        name for contest in course.state.contests for name in contest.names if JOINED in name
    ]
    return [*found, *(_row(course, Entry(name, None, ""), verdict) for name in combined)]


def _row(course: Course, entry: Entry, verdict: Verdict) -> Row:
    candidate = find(course.candidates, entry.name)
    outcome, reason = _outcome(course, entry, verdict)
    return Row(
        entry.name, candidate.summary, entry.predicted, outcome, reason, _raced(course, entry.name)
    )


def _outcome(course: Course, entry: Entry, verdict: Verdict) -> tuple[str, str]:
    state, name = course.state, entry.name
    if entry.out:
        return NOT_RACED, entry.out
    if name in state.refused:
        reason = state.refused[name]
        return (NOT_RACED if reason == NO_BUDGET else REFUSED), reason
    if state.confirming is not None and name == state.confirming.name:
        won = verdict.outcome == WINNER
        return (WON, "") if won else (UNCONFIRMED, "it led, but fresh rounds do not show a gain")
    for number in reversed(range(len(state.contests))):
        standing = course.standing(number)
        if name in standing.dropped:
            return DROPPED, f"surely not 1 % better than {told(standing.dropped[name])}"
        if name in standing.names and state.contests[number].rounds:
            return OUTRUN, f"{told(standing.choice)} led when the race ended"
    return NOT_RACED, NO_BUDGET


def _raced(course: Course, name: str) -> Estimate | None:
    for number in reversed(range(len(course.state.contests))):
        contest = course.state.contests[number]
        if name in contest.names and contest.rounds:
            rounds = runs.counted(contest.rounds, course.by)
            return race.ratio(rounds, name, course.standing(number).error)
    return None


# ---- the verdict ---------------------------------------------------------------------------------


def judge(course: Course) -> Verdict:
    """Whether the confirming rounds show a gain."""
    confirming, quantity = course.state.confirming, QUANTITIES[course.by]
    if confirming is None:
        return _left(_why_nobody(course))
    name = confirming.name
    if name in course.state.refused:
        return _left(f"{name} led, but was refused: {course.state.refused[name]}")
    if len(confirming.rounds) < race.FEWEST_CONFIRMING:
        return _left(f"{name} led, but the budget ended before that could be confirmed")
    found = race.confirmed(runs.counted(confirming.rounds, course.by), name)
    if not race.wins(found):
        return _left(
            f"{name} seemed better in the race, but {found.count} fresh rounds show "
            f"{found.value:.3f} times the plain program's {quantity} ({_interval(found)}), which "
            "may be none",
            found,
        )
    memory = _memory(course, name)
    more = f"; it needs {memory:.2g} times the memory" if memory > 1.05 else ""
    sentence = (
        f"{name} takes {100 * (1 - found.value):.1f} % less {quantity} than the plain program on "
        f"this machine's own kernel ({100 * (1 - found.high):.1f} to "
        f"{100 * (1 - found.low):.1f} %, {found.confidence:.0%} confidence, {found.count} fresh "
        f"rounds){more}"
    )
    return Verdict(WINNER, sentence, tuple(applied(course, name)), found, memory)


def _left(why: str, ratio: Estimate | None = None) -> Verdict:
    return Verdict(LEAVE_IT, f"leave it: {why}", (), ratio, None)


def _why_nobody(course: Course) -> str:
    state = course.state
    if all(entry.out for entry in state.entries):
        return "no candidate is predicted to gain 1 % even at best"
    standing = course.standing(SINGLE)
    if not state.contests[SINGLE].rounds:
        return "every promising candidate was refused, or the budget ended before the first round"
    if standing.left and not standing.settled:
        return "the budget ended before any candidate was better than the plain program"
    return "no candidate was 1 % better than the plain program"


def _interval(found: Estimate) -> str:
    return f"{found.low:.3f} to {found.high:.3f}"


def _memory(course: Course, name: str) -> float:
    confirming = course.state.confirming
    assert confirming is not None
    peaks = {
        each: median([done.costs[each].resident_bytes for done in confirming.rounds]).value
        for each in (name, PLAIN)
    }
    return peaks[name] / max(peaks[PLAIN], 1.0)


def applied(course: Course, name: str) -> list[str]:
    """How to use a winner, a line each."""
    candidate, program = find(course.candidates, name), course.makes.line.program
    contestant = course.contestant(name)
    lines = []
    if candidate.needs_build:
        variables = course.makes.variables(candidate.flags) if candidate.flags else {}
        if candidate.program == ADAPTED and course.makes.plan is not None:
            variables = {"KADENCE_PLAN": str(course.makes.plan), "CC": "kadence-cc"} | variables
        lines.append(f"build with: {_assigned(variables)} {program.build}")
        lines.append(f"the build that was measured: {contestant.folder}")
    words = [*candidate.prefix, *program.run]
    if contestant.image is not None and candidate.kernel is not None:
        kernel = ["kadence", "run", "--target", candidate.kernel.target]
        words = [*kernel, "--kernel", contestant.image.parent.name, "--", *words]
    lines.append(f"run: {_assigned(candidate.environment)} {shlex.join(words)}".replace("  ", " "))
    if candidate.environment:
        lines.append("or in kadence.toml, below [environment]:")
        lines += [f"    {key} = {json.dumps(text)}" for key, text in candidate.environment.items()]
    return lines


def _assigned(variables: Mapping[str, str]) -> str:
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())


# ---- the document --------------------------------------------------------------------------------


def body(course: Course, machine: Mapping[str, Any], cost_told: str) -> Body:
    """tune.json without its envelope (docs/artefacts-kernel.md)."""
    state, verdict = course.state, judge(course)
    done = state.rounds()
    disturbed = sum(each.others >= NOTICEABLE_SHARE for each in done)
    return {
        "program": {
            "name": course.makes.line.program.name,
            "run": list(course.makes.line.program.run),
        },
        "machine": dict(machine),
        "by": course.by,
        "seed": state.seed,
        "budget_seconds": course.budget,
        "cost": cost_told,
        "spent_seconds": round(state.spent, 3),
        "plain_seconds": state.plain_seconds,
        "rounds": len(done),
        "disturbed_rounds": disturbed,
        "repeated_rounds": state.repeats,
        "others_share": round(sum(each.others for each in done) / len(done), 4) if done else None,
        "candidates": [_told(course, row) for row in rows(course, verdict)],
        "verdict": codec.encode(verdict),
    }


def _told(course: Course, row: Row) -> Body:
    candidate: Candidate = find(course.candidates, row.name)
    setting = codec.encode(candidate)
    shown = ("environment", "flags", "program", "prefix", "kernel")
    encoded: Body = codec.encode(row)
    return encoded | {
        "dimension": candidate.dimension,
        "setting": {key: setting[key] for key in shown},
        "raced": _finite(row.raced),
    }


def _finite(found: Estimate | None) -> Body | None:
    """An estimate in JSON, which has no infinity: an end that is not known yet is null."""
    if found is None:
        return None
    encoded: Body = codec.encode(found)
    return encoded | {"high": found.high if found.high < float("inf") else None}


def table(document: Mapping[str, Any]) -> str:
    """The table for the terminal, and the verdict below it."""
    lines = [("candidate", "predicted", "raced", "rounds", "outcome")]
    details = []
    for row in document["candidates"]:
        why = f": {row['reason']}" if row["reason"] else ""
        lines.append((row["name"], _predicted(row), *_measured(row), row["outcome"]))
        if why:
            details.append(f"{row['name']}{why}")
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    shown = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    notes = _notes(document)
    verdict = document["verdict"]
    sentence = f"{verdict['sentence'][0].upper()}{verdict['sentence'][1:]}."
    return "\n".join([*shown, "", *details, *notes, "", sentence, *_indented(verdict["apply"])])


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _predicted(row: Mapping[str, Any]) -> str:
    found = row["predicted"]
    return f"{found['ratio']:.2f} ({found['low']:.2f}-{found['high']:.2f})" if found else "-"


def _measured(row: Mapping[str, Any]) -> tuple[str, str]:
    found = row["raced"]
    if found is None:
        return "-", "-"
    ends = "" if found["high"] is None else f" ({found['low']:.3f}-{found['high']:.3f})"
    return f"{found['value']:.3f}{ends}", str(found["count"])


def _notes(document: Mapping[str, Any]) -> list[str]:
    share, disturbed = document["others_share"], document["disturbed_rounds"]
    notes = [] if document["machine"]["randomised"] == RANDOMISED else [NOT_RANDOMISED]
    if not disturbed:
        return notes
    return [
        *notes,
        f"The machine was busy: other work took {share:.0%} of the processors' time; {disturbed} "
        f"of {document['rounds']} rounds were disturbed, {document['repeated_rounds']} repeated.",
    ]


def place(output: Path, name: str) -> Path:
    """The path of the result."""
    return output / f"{name}.tune.json"
