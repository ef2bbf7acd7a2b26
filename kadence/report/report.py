# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns measurements into `report.json`, its verdict, and the table at the end.

The verdict compares the adapted program on the tailored kernel with the plain program on the
machine's own kernel, because the user chooses between these two. It compares the time from the
request to the end. The deciding comparison is fixed before anything is measured: picking the best
of several afterwards would find winners in noise.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from kadence.base import statistics
from kadence.base.statistics import Estimate
from kadence.measurement import neighbours
from kadence.measurement.execution import Sample
from kadence.measurement.measure import (
    ADAPTED,
    GENERIC,
    KERNEL_NAMES,
    MACHINE,
    PLAIN,
    REFERENCE,
    TAILORED,
    Cell,
    Measurements,
)
from kadence.program import leaving_out
from kadence.program.leaving_out import LeftOut
from kadence.report import gains

FASTER, SLOWER, NONE, FAILED = "faster", "slower", "none", "failed"
UNDECIDED = "undecided"
METRICS = tuple(field.name for field in fields(Sample))

# The two combinations that are compared, and the effect that the comparison shows.
COMPARISONS = (
    (Cell(TAILORED, PLAIN), Cell(GENERIC, PLAIN), "the tailored kernel, plain program"),
    (Cell(TAILORED, ADAPTED), Cell(GENERIC, ADAPTED), "the tailored kernel, adapted program"),
    (Cell(GENERIC, ADAPTED), Cell(GENERIC, PLAIN), "the adaptation, on the generic kernel"),
    (Cell(TAILORED, ADAPTED), Cell(TAILORED, PLAIN), "the adaptation, on the tailored kernel"),
    (Cell(MACHINE, ADAPTED), REFERENCE, "the phase calls where no device answers them"),
    (Cell(GENERIC, PLAIN), REFERENCE, "running under User-Mode Linux at all"),
)


@dataclass(frozen=True)
class Verdict:
    """The report's verdict in one sentence."""

    outcome: str  # FASTER, SLOWER, NONE, UNDECIDED or FAILED
    sentence: str
    kernel: str  # of the compared combination
    ratio: Estimate | None = None  # its time as a multiple of the reference's


def outcome(ratio: Estimate) -> str:
    """The outcome of a ratio of times; a difference within the noise counts as none."""
    if not statistics.differs(ratio):
        return NONE
    return FASTER if ratio.value < 1 else SLOWER


def in_words(ratio: Estimate) -> str:
    """A ratio of times in words: `12.3 % less (11.0 to 13.5 %)`, or `none`."""
    if not statistics.differs(ratio):
        return "none"
    sign = -1 if ratio.value < 1 else 1
    low, high = sorted(100 * sign * (bound - 1) for bound in (ratio.low, ratio.high))
    word = "less" if sign < 0 else "more"
    return f"{100 * sign * (ratio.value - 1):.1f} % {word} ({low:.1f} to {high:.1f} %)"


def failures(found: Measurements) -> list[str]:
    """One sentence for every difference of outputs."""
    sentences = []
    for (cell, name), rounds in found.differences.items():
        times = "once" if len(rounds) == 1 else f"{len(rounds)} times"
        if cell == REFERENCE:
            sentences.append(
                f"{name} of the {cell} is not the same in every run (it differed {times}): "
                "the program is not deterministic, so nothing can be said about its adaptation"
            )
        else:
            sentences.append(f"{name} of the {cell} differed {times} from the {REFERENCE}'s")
    return sentences


def paired(found: Measurements, of: Cell, against: Cell, metric: str) -> Estimate | None:
    """The ratio of `of`'s metric to `against`'s; None if either was not measured."""
    if of not in found.samples or against not in found.samples:
        return None
    return statistics.paired_ratio(
        [getattr(sample, metric) for sample in found.samples[of]],
        [getattr(sample, metric) for sample in found.samples[against]],
    )


# The combinations that a user would choose, the one with most adaptation first.
CHOICES = (
    *(Cell(TAILORED, ADAPTED), Cell(TAILORED, PLAIN), Cell(GENERIC, ADAPTED)),
    *(Cell(MACHINE, ADAPTED), Cell(GENERIC, PLAIN)),
)


def judged(found: Measurements) -> Cell:
    """The combination that the verdict is about: the first one measured, whatever its time."""
    return next((cell for cell in CHOICES if cell in found.samples), CHOICES[0])


def verdict(found: Measurements, others: float = 0.0) -> Verdict:
    """The report's verdict; `others` is the share of processor time that other work took."""
    cell = judged(found)
    kernel = cell.kernel
    if found.differences:
        return Verdict(
            FAILED, "The program's output is not the same everywhere: do not use this.", kernel
        )
    ratio = paired(found, cell, REFERENCE, "seconds")
    if ratio is None:
        return Verdict(FAILED, "Nothing could be measured.", kernel)
    if others > neighbours.DECISIVE_SHARE:
        sentence = (
            "Nothing is decided: other work kept the machine too busy during the measurements."
        )
        return Verdict(UNDECIDED, sentence, kernel, ratio)
    what = f"The {cell}"
    against = f"the {REFERENCE}"
    kind = outcome(ratio)
    sentences = {
        FASTER: f"{what} takes {in_words(ratio)} time than {against}.",
        SLOWER: f"{what} takes {in_words(ratio)} time than {against}: use {against}.",
        NONE: f"Between {what[0].lower()}{what[1:]} and {against} no difference can be told "
        "from the noise.",
    }
    return Verdict(kind, sentences[kind], kernel, ratio)


def measured(found: Measurements) -> list[dict[str, Any]]:
    """For each combination: estimates and samples of all metrics, checksums of the outputs."""
    return [
        {
            "kernel": cell.kernel,
            "program": cell.program,
            "estimates": {
                metric: asdict(statistics.median(_values(samples, metric))) for metric in METRICS
            },
            "samples": {metric: _values(samples, metric) for metric in METRICS},
            "outputs": found.outputs.get(cell, {}),
            "phases": counted(found.counters.get(cell, "")),
        }
        for cell, samples in found.samples.items()
    ]


COUNTED = ("entries", "time_ns", "voluntary_switches", "involuntary_switches")
# Older versions of libkadapt do not report these.
COUNTED_MEMORY = ("minor_faults", "major_faults", "populated_bytes")


def counted(lines: str) -> list[dict[str, int | None]]:
    """The counters that libkadapt got from the kernel, a line per process, summed by phase.

    A counter that some process did not report is None.
    """
    entries: dict[int, list[dict[str, int]]] = {}
    for line in lines.splitlines():
        for entry in json.loads(line)["phases"]:
            entries.setdefault(entry["phase"], []).append(entry)
    return [
        {
            "phase": number,
            **{name: sum(entry[name] for entry in entries[number]) for name in COUNTED},
            **{name: _sum_if_known(entries[number], name) for name in COUNTED_MEMORY},
        }
        for number in sorted(entries)
    ]


def _sum_if_known(entries: Sequence[Mapping[str, int]], name: str) -> int | None:
    known = [entry[name] for entry in entries if name in entry]
    return sum(known) if len(known) == len(entries) else None


def _values(samples: Sequence[Sample], metric: str) -> list[float]:
    return [getattr(sample, metric) for sample in samples]


def comparisons(found: Measurements) -> list[dict[str, Any]]:
    """The effect of each single change on the whole time and on the program's own time."""
    compared = []
    for of, against, effect in COMPARISONS:
        whole = paired(found, of, against, "seconds")
        program = paired(found, of, against, "program_seconds")
        if whole is not None and program is not None:
            compared.append(
                {
                    "effect": effect,
                    "of": asdict(of),
                    "against": asdict(against),
                    "seconds": asdict(whole) | {"says": in_words(whole)},
                    "program_seconds": asdict(program) | {"says": in_words(program)},
                }
            )
    return compared


def without(found: Measurements, before: Sequence[LeftOut]) -> list[LeftOut]:
    """Parts that the report lacks: left out before the measurements, or dropped in them."""
    lost = list(before)
    for kernel in dict.fromkeys(cell.kernel for cell in found.dropped):
        cells = [cell for cell in found.dropped if cell.kernel == kernel]
        part = KERNEL_NAMES[kernel] if Cell(kernel, PLAIN) in cells else f"the {cells[0]}"
        lost.append(LeftOut(part, found.dropped[cells[0]], leaving_out.OF_A_RUN))
    return lost


def body(
    found: Measurements,
    rounds: int,
    notes: Sequence[str],
    others: float = 0.0,
    left_out: Sequence[LeftOut] = (),
) -> dict[str, Any]:
    """The part of `report.json` that comes from the measurements."""
    disturbed = neighbours.note(others)
    return {
        "failures": failures(found),
        "without": [asdict(part) for part in without(found, left_out)],
        "verdict": asdict(verdict(found, others)),
        "notes": [*notes, *found.warnings, *([disturbed] if disturbed else [])],
        "filters": [asdict(each) for each in found.filtered],
        "others_share": round(others, 4),
        "rounds": rounds,
        "uncounted_rounds": 1,
        "cells": measured(found),
        "comparisons": comparisons(found),
    }


def table(document: Mapping[str, Any]) -> str:
    """The short table that ends `kadence specialize`."""
    lines = [
        *_block("seconds (95 % interval)", document["cells"], _seconds_text),
        "",
        *_block("page faults, peak resident", document["cells"], _memory_text),
        "",
    ]
    for comparison in document["comparisons"]:
        lines.append(f"{comparison['effect']:50}{comparison['seconds']['says']}")
    first = [*document["failures"], *(str(LeftOut(**part)) for part in document["without"])]
    first += gains.lines(document)
    lines += [filter_text(each) for each in document["filters"]]
    return "\n".join([*first, *lines, "", *document["notes"]]).rstrip() + (
        f"\n\n{document['trials']['sentence']}\n{document['verdict']['sentence']}"
    )


def filter_text(each: Mapping[str, Any]) -> str:
    """The effect of a filter in one line."""
    order = ", the rest compared in sorted order" if each["sort"] else ""
    what = f"by {each['pattern']!r}" if each["pattern"] else "by no pattern"
    return (
        f"not compared: {each['removed']} of {each['lines']} lines of {each['file']}, {what}{order}"
    )


def _block(
    title: str,
    cells: Sequence[Mapping[str, Any]],
    told: Callable[[Mapping[str, Mapping[str, float]]], str],
) -> Iterator[str]:
    """A line for each kernel, the machine's own first, and a column for each program."""
    yield f"{title:26}{'plain program':>26}{'adapted program':>26}"
    estimates = {(cell["kernel"], cell["program"]): cell["estimates"] for cell in cells}
    for kernel in (MACHINE, GENERIC, TAILORED):
        keys = [(kernel, program) for program in COLUMNS]
        shown = [told(estimates[key]) if key in estimates else "-" for key in keys]
        yield f"{KERNEL_NAMES[kernel]:26}" + "".join(f"{text:>26}" for text in shown)


def _seconds_text(estimates: Mapping[str, Mapping[str, float]]) -> str:
    return interval_text(estimates["seconds"])


def _memory_text(estimates: Mapping[str, Mapping[str, float]]) -> str:
    resident = estimates["max_resident_bytes"]["value"] / MEBIBYTE
    return f"{estimates['minor_faults']['value']:,.0f}, {resident:,.1f} MiB"


MEBIBYTE = 1 << 20
COLUMNS = (PLAIN, ADAPTED)


def interval_text(estimate: Mapping[str, float]) -> str:
    """`1.234 (1.230 to 1.250)`."""
    return f"{estimate['value']:.3f} ({estimate['low']:.3f} to {estimate['high']:.3f})"
