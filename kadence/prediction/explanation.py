# SPDX-License-Identifier: GPL-2.0-or-later
"""The ceiling in words: its sentence, the table of phases, the error, and what would take it."""

from collections.abc import Iterator, Sequence
from typing import Any

from kadence.base.statistics import Estimate
from kadence.measurement.shares import in_words, percent
from kadence.phases.artefact.document import Document
from kadence.prediction.ceiling import Ceiling, Row
from kadence.prediction.worth import Taker

COLUMNS = ("faults", "calls", "switches", "waiting")
LABEL_WIDTH, WIDTH = 26, 11
# Less of the run is not told: other work is always there.
NOTICEABLE = 0.005


def sentence(found: Ceiling) -> str:
    """The most that can be gained, in one line."""
    run = found.run
    waiting = found.share(run.waited)
    if not found.measured:
        return (
            "not known, because no run of it was measured; guessed from instructions and calls, "
            f"the kernel takes {percent(run.kernel_share.value)} of the run"
        )
    return (
        f"at most {in_words(run.most)} of this run can be gained by any adaptation: its "
        f"kernel takes {percent(run.kernel_share.value)}, and it waits for {percent(waiting)}"
    )


def table(found: Ceiling) -> Iterator[str]:
    """A line for each phase: its share of the run, and shares of its own time."""
    yield _cells("", ["of the run", *COLUMNS])
    for each in found.rows:
        own = row(found, each)
        yield _cells(label(each), [percent(own[name]) for name in ("share", *COLUMNS)])
    if not found.measured:
        return
    rest = found.share(found.unexplained)
    yield _cells("not explained by prices", [percent(rest)])
    yield _cells("the run", [percent(1.0), *map(percent, totals(found).values())])


def label(each: Row) -> str:
    return each.kind if each.phase is None else f"phase {each.phase}: {each.kind}"


def totals(found: Ceiling) -> dict[str, float]:
    """The share of the run that each column takes."""
    return {name: found.share(sum(getattr(each, name) for each in found.rows)) for name in COLUMNS}


def row(found: Ceiling, each: Row) -> dict[str, Any]:
    """A phase's share of the run, and what its kernel takes, as shares of the phase's time."""
    whole = each.seconds or 1.0
    parts = {name: getattr(each, name) / whole for name in COLUMNS}
    share = found.share(each.seconds)
    return {"phase": each.phase, "kind": each.kind, "share": share, **parts}


def _cells(first: str, rest: Sequence[str]) -> str:
    return f"{first:{LABEL_WIDTH}}" + "".join(f"{text:>{WIDTH}}" for text in rest)


def error(found: Ceiling) -> str:
    """What the profile and the prices predict of the kernel's time, beside what was measured."""
    predicted = f"the profile and this machine's prices predict {found.priced:.3f} s of kernel time"
    if not found.measured:
        return f"{predicted}; how wrong that is, only a measured run can show"
    seconds = found.run.kernel_seconds
    measured = f"measured were {seconds.value:.3f} s ({seconds.low:.3f} to {seconds.high:.3f} s)"
    return f"{predicted}, {measured}: {_judged(found, seconds)}"


def _judged(found: Ceiling, seconds: Estimate) -> str:
    if not found.is_off:
        return "no difference can be told from the measurement's own error"
    if seconds.value <= 0:
        return "so far too much"
    off = found.priced / seconds.value - 1
    what = "too much" if off > 0 else "too little"
    scaled = "; the table's shares are scaled down to fit" if found.scale < 1 else ""
    return f"{percent(abs(off))} {what}{scaled}"


def notes(found: Ceiling, document: Document, command: Sequence[str]) -> Iterator[str]:
    """What the reader should know of how far the figures reach."""
    run = found.run
    if run.runs and run.delayed > NOTICEABLE * run.seconds:
        yield (
            f"other work had its processor for {percent(run.delayed / run.seconds)} of the time, "
            "which is not counted"
        )
    if not document.backend.kernel_seen:
        yield f"the kernel's time has no reasons and no phases: {document.backend.why_unseen}"
    if document.concurrency.processes > 1 or document.others_system_calls:
        yield (
            "it starts other processes, which were measured, but are not in the profile: what they "
            "compute counts as the phases'"
        )
    if run.runs and tuple(command) != document.program:
        yield f"the measured command is not the profiled one, `{' '.join(document.program)}`"


def lines(found: Ceiling, takers: Sequence[Taker], noted: Sequence[str]) -> Iterator[str]:
    """All of it, as `kadence plan --explain` prints it."""
    yield f"ceiling: {sentence(found)}"
    yield from table(found)
    yield f"error: {error(found)}"
    yield from (f"note: {note}" for note in noted)
    if takers:
        yield "what would take it, the most first:"
    yield from (f"{number:3}. {taker}" for number, taker in enumerate(takers, 1))
