# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of the corpus: a line for each program, then what each line omits, then the sums."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bench.corpus.corpus_run import NOT_RUN, Result
from bench.corpus.corpus_verdict import is_placement, slower

HEADINGS = (
    *("program", "last stage", "adapted/plain here", "plain/plain here", "faults here"),
    *("peak MiB here", "predicted there", "kernel there/plain here", "adapted there/plain here"),
    *("outputs", "s"),
)
NOTHING = "-"
# The cell for a program whose plain outputs differ from run to run, and the suffixes of plain runs
# in own.json.
CHANGING = "plain's own vary"
PLAIN_RUNS = ("(plain)", "(again)")


def table(results: Sequence[Result]) -> str:
    rows = [HEADINGS, *map(row, results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = [_line(each, widths) for each in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([*lines, "", *refusals(results), "", *sums(results)])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    pairs = zip(cells, widths, strict=True)
    return "  ".join(cell.ljust(width) for cell, width in pairs).rstrip()


def row(result: Result) -> tuple[str, ...]:
    own, report = result.own, result.report
    return (
        *(result.name, result.stage),
        *(ratio(own.get("adapted")) + (" SLOWER" if slower(own) else ""), ratio(own.get("again"))),
        *_change(own),
        *_there(report),
        *(outputs(result), f"{result.seconds:.0f}"),
    )


def ratio(estimate: Mapping[str, float] | None) -> str:
    if not estimate:
        return NOTHING
    return f"{estimate['value']:.3f} ({estimate['low']:.3f} to {estimate['high']:.3f})"


def _change(own: Mapping[str, Any]) -> tuple[str, str]:
    """Returns page faults and peak memory, plain and adapted."""
    if not own:
        return NOTHING, NOTHING
    plain, adapted = own["medians"]["plain"], own["medians"]["adapted"]
    faults = f"{plain['minor_faults']:.0f} -> {adapted['minor_faults']:.0f}"
    peaks = [each["max_resident_bytes"] / 2**20 for each in (plain, adapted)]
    return faults, f"{peaks[0]:.1f} -> {peaks[1]:.1f}"


def _there(report: Mapping[str, Any]) -> tuple[str, str, str]:
    """Returns the prediction, and the factors of the plain and the adapted program on the kernel.

    All are factors of the program's own time. Like predictions, they exclude a guest's start and
    end.
    """
    seconds = {
        (cell["kernel"], cell["program"]): cell["estimates"]["program_seconds"]["value"]
        for cell in report.get("cells", ())
    }
    here = seconds.get(("machine", "plain"))
    best = "tailored" if ("tailored", "adapted") in seconds else "generic"
    pairs = (seconds.get((best, mode)) for mode in ("plain", "adapted"))
    shown = [f"{there / here:.2f} {best}" if there and here else NOTHING for there in pairs]
    return predicted(report.get("prediction", {})), shown[0], shown[1]


def predicted(prediction: Mapping[str, Any]) -> str:
    """Returns the factor of each target considered, and "left" if no target was chosen."""
    factors = [
        f"{one['target']} {one['factor']:.1f}"
        for one in prediction.get("targets", ())
        if "factor" in one
    ]
    left = ["left"] if prediction and prediction.get("target") is None else []
    return " ".join([*factors, *left]) or NOTHING


def outputs(result: Result) -> str:
    """Returns the verdict on the outputs of all runs on all kernels."""
    failures = [*result.own.get("differing", ()), *result.report.get("failures", ())]
    if any(name.endswith(PLAIN_RUNS) for name in result.own.get("differing", ())):
        return CHANGING
    if failures:
        return "DIFFER"
    return "same" if result.own else NOTHING


def refusals(results: Iterable[Result]) -> Iterator[str]:
    for result in results:
        for failure in (*result.own.get("differing", ()), *result.report.get("failures", ())):
            yield f"{result.name}: other output: {failure}"
        for part in result.report.get("without", ()):
            yield f"{result.name}: left out: {part['part']}: {part['reason']}"
        for name, estimate in result.own.get("moved", {}).items():
            yield f"{result.name}: plain, code {name.replace('-', ' by ')} bytes: {ratio(estimate)}"
        if result.refusal:
            yield f"{result.name}: {result.refusal}"


def sums(results: Sequence[Result]) -> Iterator[str]:
    reports = sum(bool(result.report) for result in results)
    waiting = sum(result.refusal == NOT_RUN for result in results)
    refused = sum(bool(result.refusal) for result in results) - waiting
    differing = sum(outputs(result) == "DIFFER" for result in results)
    changing = sum(outputs(result) == CHANGING for result in results)
    slow = [result.name for result in results if slower(result.own)]
    placed = [result.name for result in results if slower(result.own) and is_placement(result.own)]
    seconds = sum(result.seconds for result in results)
    yield (
        f"{len(results)} programs: {reports} reports, {sum(bool(r.own) for r in results)} adapted "
        f"programs measured here, {refused} refusals, {waiting} not run; {differing} with other "
        f"outputs, {changing} whose plain runs differ among themselves; slower adapted than plain "
        f"here: {', '.join(slow) or 'none'}, of them no slower than the plain program with its "
        f"code moved: {', '.join(placed) or 'none'}; {seconds / 60:.0f} min"
    )
    busy = [result.own["others"] for result in results if "others" in result.own]
    if busy:
        yield (
            f"other work had {100 * min(busy):.0f} to {100 * max(busy):.0f} % of the processors "
            "while programs were measured here"
        )
    yield "packages: " + ", ".join(result.version for result in results if result.version)
