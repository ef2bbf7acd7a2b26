# SPDX-License-Identifier: GPL-2.0-or-later
"""Merges the profiles of a parallel program's ranks, with only one in memory at a time."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from kadence.profiler import kprof
from kadence.profiler.combine.ranks import Identity, require_alike
from kadence.profiler.format.profile import Profile


def merge(paths: Sequence[Path], output: Path) -> int:
    """Write the profiles at `paths` as one, in this order; return the number of their rows."""
    rows: list[int] = []
    kprof.write_ranks(output, _each(paths, rows))
    return sum(rows)


def _each(paths: Sequence[Path], rows: list[int]) -> Iterator[Profile]:
    read: list[Identity] = []
    for path in paths:
        profile = kprof.read(path)
        read.append(Identity.of(str(path), profile))
        require_alike(read)
        rows.append(len(profile.instructions))
        yield profile
        del profile  # frees its memory before the next one is read
