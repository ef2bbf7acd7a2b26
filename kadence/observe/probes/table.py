# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of what functions did in each phase, for a person and for other programs."""

from collections.abc import Iterator, Sequence

from kadence.observe.probes.phases import Function, Phase, timed
from kadence.observe.probes.results import NO_PHASE, WAITS, Costs, Results

HEAD = ("function", "calls", "own us", "with callees us", "% of the phase", "waited us", "inside",
        "half take us", "99 % take us", "bytes")  # fmt: skip
FIELDS = ("phase", "task", "process", "function", "calls", "own_ns", "inclusive_ns",
          *(f"{wait}_ns" for wait in WAITS), "bytes", "unended")  # fmt: skip
UNKNOWN = ""


def lines(phases: Sequence[Phase], costs: Costs, most: int) -> Iterator[str]:
    """Each phase, with the functions that took most time."""
    for phase in phases:
        functions = sorted(phase.functions.values(), key=weight)
        if not functions:
            continue
        yield _title(phase, costs)
        yield from _aligned([HEAD, *(_row(phase, each, costs) for each in functions[:most])])
        if len(functions) > most:
            yield f"and {len(functions) - most} more; --top 0 shows all"
    yield correction(phases, costs)


def weight(function: Function) -> tuple[int, int, str]:
    """A key that sorts the functions in which tasks were longest first."""
    residence = function.inclusive + sum(function.waited)
    return (-residence, -function.calls, function.instrument.function)


def _title(phase: Phase, costs: Costs) -> str:
    name = "outside of phases" if phase.number == NO_PHASE else f"phase {phase.number}"
    tasks = f"{phase.tasks} task{'' if phase.tasks == 1 else 's'}"
    return (
        f"{name}: {tasks}, {_us(phase.elapsed, costs)} us, "
        f"{_us(phase.ran, costs)} us on a processor"
    )


def _row(phase: Phase, each: Function, costs: Costs) -> Sequence[str]:
    name, calls = each.instrument.function, f"{each.calls:,}"
    if not each.is_timed:
        return (name, calls, *[UNKNOWN] * (len(HEAD) - 2))
    return (
        name,
        calls,
        _us(each.own, costs),
        _us(each.inclusive, costs),
        f"{100 * each.inclusive / phase.ran:.1f}" if phase.ran else UNKNOWN,
        waited(each, costs),
        f"{phase.concurrency(each):.2f}" if phase.elapsed else UNKNOWN,
        f"{costs.ns(each.percentile(50)) / 1000:.3g}",
        f"{costs.ns(each.percentile(99)) / 1000:.3g}",
        f"{each.bytes:,}" if each.bytes else UNKNOWN,
    )


def waited(each: Function, costs: Costs) -> str:
    """By reason, the longest first."""
    parts = sorted(zip(each.waited, WAITS, strict=True), reverse=True)
    return ", ".join(f"{name} {_us(ticks, costs)}" for ticks, name in parts if ticks)


def _us(ticks: float, costs: Costs) -> str:
    return f"{costs.ns(ticks) / 1000:,.1f}"


def correction(phases: Sequence[Phase], costs: Costs) -> str:
    """How much was subtracted, and how well that is known: to half a tick a call."""
    functions, ran = timed(phases), sum(phase.ran for phase in phases)
    calls = sum(each.calls for each in functions)
    taken = sum(each.calls * costs.calls[each.instrument.kind] for each in functions)
    share, error = (100 * each / (ran or 1) for each in (taken, calls / 2))
    return (
        f"{calls:,} timed calls took {taken / (calls or 1):.1f} ticks each, {share:.2g} % of the "
        f"time; this is subtracted, and known to {error:.1g} % of the time"
    )


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    for first, *rest in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  ".join([f"{first:<{widths[0]}}", *cells]).rstrip()


def separated(found: Results, names: Sequence[str]) -> Iterator[str]:
    """The same by task, for other programs: lines of values between tabs."""
    yield "\t".join(FIELDS)
    for block in found.blocks:
        for record in block.records:
            own = record.inclusive - record.children
            ticks = (own, record.inclusive, *record.waited)
            times = [f"{found.costs.ns(each):.0f}" for each in ticks]
            yield "\t".join(
                [str(block.phase), str(block.task), str(block.process), names[record.function],
                 str(record.calls), *times, str(record.bytes), str(record.unended)]
            )  # fmt: skip
