# SPDX-License-Identifier: GPL-2.0-or-later
"""A place where a marker could stand."""

from dataclasses import dataclass

from kadence.phases.source import Firings


@dataclass(frozen=True)
class Candidate:
    """A place for a marker; `order` is when the run first came there, in blocks."""

    kind: str
    function: str
    file: str
    line: int
    loop: int | None
    cfg_checksum: str | None
    exact: bool
    order: int
    fires: Firings  # per row
    block: int | None = None  # at which it was counted, in the function's CFG
