# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a profile of a recording, whichever backend recorded it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kadence.base.errors import KadenceError
from kadence.profiler.combine import merging
from kadence.profiler.format import cfgsection, program
from kadence.profiler.format.profile import Facts, Function, Profile
from kadence.profiler.stream import callstream, streamrows
from kadence.profiler.stream.rawstream import Head, Recording


def profile(recording: Recording) -> Profile:
    """Return the rows so far, thread after thread; facts.complete says whether these are all.

    All rows have the last interval: earlier rows, of a shorter interval, are merged.
    """
    # The sort is stable, which keeps the order of time within a thread.
    order = sorted(range(len(recording.rows)), key=lambda row: recording.rows[row].thread)
    made = _as_written(recording, order)
    if recording.interval == made.interval:
        return made
    if made.unit == "instructions":
        return merging.coarsened(made, recording.interval)
    begun = np.array([recording.rows[row].begun for row in order], dtype=np.int64)
    return merging.coarsened_in_time(made, recording.interval, begun)


def _as_written(recording: Recording, order: Sequence[int]) -> Profile:
    rows = [recording.rows[row] for row in order]
    vectors, counts = streamrows.matrices(rows, len(recording.blocks))
    head = recording.head
    build_id, functions = _of_program(head)
    calls = callstream.of_rows(
        (row.calls for row in rows), recording.call_names, recording.memory.sites
    )
    return Profile(
        interval=head.interval,
        vectors=vectors,
        counts=counts,
        instructions=np.array([row.instructions.sum() for row in rows], dtype=np.int64),
        thread=np.array([row.thread for row in rows], dtype=np.int32),
        start=np.array([row.start for row in rows], dtype=np.int64),
        blocks=tuple(recording.blocks),
        system_calls=calls.calls,
        call_sites=calls.sites,
        peers=tuple(recording.peers),
        layout_counts=recording.layout.sums(),
        functions=functions,
        build_id=build_id,
        argv=head.argv,
        exit_status=recording.exit_status,
        facts=_facts(recording),
        memory=recording.memory.in_order(order),
        backend=head.backend,
        unit=head.unit,
    )


def _facts(recording: Recording) -> Facts:
    """Return the facts that the stream holds, and those about this process.

    Only children get process numbers, so that repeated runs of one process give equal profiles.
    """
    facts, head = replace(recording.facts, complete=recording.ended), recording.head
    if not head.parent:
        return facts
    before = recording.instructions_before
    return replace(facts, process=head.process, parent=head.parent, instructions_before=before)


def _of_program(head: Head) -> tuple[str | None, tuple[Function, ...]]:
    """Return the build-id, and the functions if the file is still the one that ran."""
    try:
        found = program.find([head.path], None, None)
        build_id, functions = cfgsection.read(found.elf)
    except (KadenceError, OSError, ValueError):  # ValueError: an impossible path
        return head.build_id, ()
    if head.build_id not in (None, build_id):
        return head.build_id, ()
    return build_id, functions
