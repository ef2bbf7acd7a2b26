# SPDX-License-Identifier: GPL-2.0-or-later
"""A place where a marker could stand."""

from dataclasses import dataclass

from kadence.phases.describe.marking import FUNCTION_ENTRY, LOOP_PREHEADER
from kadence.phases.describe.source import Firings
from kadence.profiler.format.profile import Function, Loop


@dataclass(frozen=True)
class Candidate:
    """A place for a marker; `order` is its lowest block number, in the order of first execution."""

    kind: str
    function: str
    file: str
    line: int
    loop: int | None
    cfg_checksum: str | None
    exact: bool
    order: int
    fires: Firings  # per row
    block: int | None = None  # where it was counted: an index in the function's CFG


def of_function(
    function: Function,
    loop: Loop | None,
    exact: bool,
    order: int,
    fires: Firings,
    block: int | None = None,
) -> Candidate:
    """Return the candidate at a known function's entry, or before one of its loops."""
    return Candidate(
        FUNCTION_ENTRY if loop is None else LOOP_PREHEADER,
        function.name,
        function.file,
        function.line if loop is None else loop.line,
        None if loop is None else loop.index,
        function.cfg_checksum,
        exact,
        order,
        fires,
        block,
    )
