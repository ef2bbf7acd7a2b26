# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence phases`: from a profile to the phases artefact and the pictures."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from kadence.base import artefact
from kadence.base.errors import UsageError
from kadence.phases.artefact import document
from kadence.phases.describe import kinds, library_calls, memory, writes
from kadence.phases.describe.kinds import Verdict
from kadence.phases.find import hierarchy, matrix, outside, ranks, vectors
from kadence.phases.find.hierarchy import Joining
from kadence.phases.find.segmentation import Mask, Segmentation, segment
from kadence.phases.find.tree import Labels
from kadence.phases.find.vectors import Distances
from kadence.phases.mark import levels, markers
from kadence.phases.mark.markers import Marker
from kadence.phases.plan import concurrency, memory_planning
from kadence.profiler.format.profile import Profile, SystemCalls

HOTTEST = 10
DIGITS = 6
# A phase is judged by the inside of its visits if that holds this share of its instructions.
SMALLEST_INSIDE = 0.25
# Facts about the calls of the program's other processes, if it started any.

# The code and data that phases and comparisons of a profile depend on.
DEPENDENCIES = (Path(__file__).resolve().parent, library_calls.TABLE)

Body = dict[str, Any]


def run(
    profile_path: Path | Sequence[Path],
    output: Path,
    matrix_path: Path | None = None,
    annotated_path: Path | None = None,
    count: int | None = None,
) -> Body:
    """Read a profile, write the artefact and the pictures asked for; returns the body.

    Several profiles are the ranks of one parallel program.
    """
    if count is not None and count < 1:
        raise UsageError(f"--phases takes a whole number from 1, not {count}")
    paths = [profile_path] if isinstance(profile_path, Path) else list(profile_path)
    profile, members = ranks.read(paths)
    segmentation = segment(profile, count)
    body = describe(profile, segmentation, join=count is None)
    body["ranks"] = [rank.described() for rank in members] if len(members) > 1 else []
    if matrix_path or annotated_path:
        picture = matrix.similarity_matrix(segmentation.normalised)
        if matrix_path:
            matrix.write(picture, matrix_path)
        if annotated_path:
            _write_annotated(picture, segmentation, body, annotated_path)
    command = ["kadence", "phases", *map(str, paths), "-o", str(output)]
    if count is not None:
        command += ["--phases", str(count)]
    artefact.write(output, artefact.PHASES, profile.build_id, command, body)
    return body


def _write_annotated(
    picture: matrix.Picture, segmentation: Segmentation, body: Body, path: Path
) -> None:
    shown = np.where(segmentation.transition, matrix.TRANSITION, segmentation.assignment)
    captions = [_caption(phase) for phase in body["phases"]]
    matrix.write_annotated(picture, shown, captions, path)


def describe(profile: Profile, segmentation: Segmentation, *, join: bool = True) -> Body:
    """Return the body of the phases artefact; `join=False` leaves its phases unjoined."""
    body = _of_phases(profile, segmentation)
    joinings = _joinings(segmentation, body["phases"]) if join else []
    number = len(body["phases"])
    found = markers.find_markers(profile, segmentation, joinings)
    body["markers"] = [_marker(marker) for marker in found if marker.phase < number]
    body["hierarchy"] = {
        "joinings": [
            {
                "phase": joining.number,
                "of": list(joining.of),
                "members": list(joining.members),
                "distance": round(joining.distance, DIGITS),
                "kept": round(joining.kept, DIGITS),
            }
            for joining in joinings
        ],
        "markers": [_marker(marker) for marker in found if marker.phase >= number],
    }
    body["hierarchy"] |= _levels(body)
    return body


def _joinings(segmentation: Segmentation, phases: Sequence[Body]) -> list[Joining]:
    medoids = segmentation.normalised[list(segmentation.representatives)]
    return hierarchy.join(
        vectors.among(medoids),
        np.array([phase["intervals"] for phase in phases]),
        [(phase["kind"], _makes_processes(phase)) for phase in phases],
    )


def _makes_processes(phase: Body) -> bool:
    """Whether the phase makes processes: its page faults may then be served one by one."""
    return any(call["name"] in memory_planning.FORKING for call in phase["system_calls"])


def _levels(body: Body) -> Body:
    found = levels.of(document.parse(body, Path("the phases")))
    return {"levels": [level.described() for level in found], "taken": levels.taken(found)}


def _of_phases(profile: Profile, segmentation: Segmentation) -> Body:
    distances = vectors.to_own(
        segmentation.normalised, segmentation.representatives, segmentation.assignment
    )
    in_blocks = instructions_by_block(
        profile,
        segmentation.assignment,
        segmentation.transition,
        len(segmentation.representatives),
    )
    writers = writes.Writers(profile)
    faults = memory.of_phases(profile, segmentation)
    return {
        "program": list(profile.argv),
        "backend": profile.backend,
        "files": sorted({function.file for function in profile.functions}),
        "interval": int(profile.interval),
        "unit": profile.unit,
        "intervals": len(profile.instructions),
        "threads": list(dict.fromkeys(profile.thread.tolist())),
        "assignment": segmentation.assignment.tolist(),
        "instructions": profile.instructions.tolist(),
        "thread": profile.thread.tolist(),
        "transitions": np.flatnonzero(segmentation.transition & ~segmentation.waiting).tolist(),
        "transition_weight": _weight(
            profile, segmentation, segmentation.transition & ~segmentation.waiting
        ),
        **_waiting(profile, segmentation),
        "outside": outside.described(profile, segmentation),
        "phases": [
            _phase(profile, segmentation, number, distances, in_blocks[number], writers)
            | {"memory": faults[number]}
            for number in range(len(segmentation.representatives))
        ],
        "boundaries": [
            {"row": boundary.row, "from": boundary.before, "to": boundary.after}
            for boundary in segmentation.boundaries
        ],
        "markers": [],  # describe() adds them once the joined phases are known
        "concurrency": concurrency.of(profile),
        "system_calls": _summed(profile.system_calls),
        "socket_families": sorted(profile.facts.socket_families or ()),
        "others_system_calls": sorted(profile.facts.others_system_calls or ()),
        "others_socket_families": sorted(profile.facts.others_socket_families or ()),
        "memory_bytes": profile.facts.memory_bytes or 0,
        "memory": memory.describe(profile, segmentation),
        "ranks": [],  # run() adds them
    }


def _caption(phase: Body) -> str:
    return (
        f"phase {phase['id']}: {kinds.in_words(phase['kind'])}, {phase['weight']:.1%} of the "
        f"instructions in {phase['intervals']} intervals"
    )


def instructions_by_block(
    profile: Profile, assignment: Labels, transition: Mask, phases: int
) -> Distances:
    """Return each phase's instructions in each block (phases x blocks), without transitions."""
    rows = len(profile.instructions)
    found = np.zeros((phases, profile.vectors.shape[1]))
    members = np.flatnonzero(~transition)
    membership = sparse.csr_array(
        (np.ones(len(members)), (assignment[members], members)), (phases, rows)
    )
    for first in range(0, rows, vectors.LONG_STRIP):
        strip = slice(first, first + vectors.LONG_STRIP)
        found += (membership[:, strip] @ profile.vectors[strip]).toarray()
    return found


def _phase(
    profile: Profile,
    segmentation: Segmentation,
    number: int,
    distances: Distances,
    in_block: Distances,
    writers: writes.Writers,
) -> Body:
    member = (segmentation.assignment == number) & ~segmentation.transition
    rows = np.flatnonzero(member)
    instructions = int(profile.instructions[rows].sum())
    calls = [call for call in profile.system_calls if member[call.interval]]
    verdict = _verdict(profile, segmentation, member, calls)
    return {
        "id": number,
        "weight": _weight(profile, segmentation, member),
        "kind": verdict.kind,
        "io_calls_per_million": verdict.calls_per_million,
        "io_bytes_per_million": verdict.bytes_per_million,
        "representative": segmentation.representatives[number],
        "intervals": len(rows),
        "mean_distance": round(float(distances[rows].mean()), DIGITS),
        "largest_distance": round(float(distances[rows].max()), DIGITS),
        "hottest": _hottest(profile, in_block, instructions),
        "system_calls": _summed(calls),
        "writes": writers.of_phase(calls),
    }


def _weight(profile: Profile, segmentation: Segmentation, member: Mask) -> float:
    """The rows' share of the instructions outside waiting rows."""
    computed = int(profile.instructions[~segmentation.waiting].sum())
    return round(int(profile.instructions[member].sum()) / computed, DIGITS)


def _waiting(profile: Profile, segmentation: Segmentation) -> Body:
    """The rows in which a thread spun and their share of all instructions."""
    waited = int(profile.instructions[segmentation.waiting].sum())
    return {
        "waiting": np.flatnonzero(segmentation.waiting).tolist(),
        "waiting_weight": round(waited / int(profile.instructions.sum()), DIGITS),
    }


def _verdict(
    profile: Profile, segmentation: Segmentation, member: Mask, calls: Sequence[SystemCalls]
) -> Verdict:
    """Judge a phase by the rows that hold nothing else.

    The first and last row of a visit may hold a part of the phase before or after, and that
    phase's calls. The run's first row holds the loader's calls.
    """
    if not profile.kernel_seen:
        return Verdict(kinds.UNSEEN, 0.0, 0.0)
    first = np.zeros(len(member), dtype=np.bool_)
    first[[boundary.row for boundary in segmentation.boundaries]] = True
    inside = member & ~first & ~np.roll(first, -1)
    least = SMALLEST_INSIDE * profile.instructions[member].sum()
    if profile.instructions[inside].sum() < least:
        inside = member.copy()
        inside[0] &= bool(member.sum() == 1)
    judged = [call for call in calls if inside[call.interval]]
    return kinds.judge(judged, int(profile.instructions[inside].sum()))


def _hottest(profile: Profile, in_block: Distances, instructions: int) -> list[Body]:
    """The places where a phase spends its instructions; blocks on one line are one place."""
    places: defaultdict[tuple[str, str, int], float] = defaultdict(float)
    for number in np.flatnonzero(in_block).tolist():
        block = profile.blocks[number]
        places[block.function, block.file, block.line] += in_block[number]
    ordered = sorted(places.items(), key=lambda item: (-item[1], item[0]))
    return [
        {
            "function": function,
            "file": file,
            "line": line,
            "share": round(float(spent / max(instructions, 1)), DIGITS),
        }
        for (function, file, line), spent in ordered[:HOTTEST]
    ]


def _summed(calls: Iterable[SystemCalls]) -> list[Body]:
    sums: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for call in calls:
        entry = sums[call.name, call.descriptor]
        entry[0] += call.count
        entry[1] += call.bytes
    ordered = sorted(sums.items(), key=lambda item: (-item[1][0], item[0]))
    return [
        {"name": name, "descriptor": descriptor, "count": int(count), "bytes": int(moved)}
        for (name, descriptor), (count, moved) in ordered
    ]


def _marker(marker: Marker) -> Body:
    place = marker.place
    return {
        "phase": marker.phase,
        "kind": place.kind,
        "function": place.function,
        "file": place.file,
        "line": place.line,
        "loop": place.loop,
        "cfg_checksum": place.cfg_checksum,
        "block": place.block,
        "verified": place.cfg_checksum is not None,
        "exact": place.exact,
        "fires": marker.fires,
        "boundaries": marker.boundaries,
        "announced": marker.announced,
        "false": marker.false,
        "intrudes": marker.intrudes,
    }
