# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns a profile into phases: every row gets one, and the boundaries between them follow.

Only whole intervals that are not transitions decide which phases there are; the others join
a phase afterwards. Otherwise, the interval in which one phase ends and the next begins would
look like a phase of its own.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kadence.base.errors import ArtefactError
from kadence.phases.find import clustering, refinement, swapping, tree, vectors
from kadence.phases.find.clustering import Groups
from kadence.phases.find.refinement import Settled
from kadence.phases.find.tree import Labels
from kadence.phases.find.vectors import Normalised, Rows
from kadence.profiler.combine import waiting
from kadence.profiler.format.profile import Profile

SMALLEST_INTERVAL = 0.5  # of the median; a shorter row is too noisy to found a phase
TRANSITION_EXCESS = 0.25  # largest detour through a mixture, as a share of the leap.
# A group must hold this share of the instructions, or come again after as much of the run.
SMALLEST_WEIGHT = 0.01
# A group that comes again must hold this share. Adapting a smaller group cannot gain more than
# that, and whether it has an interval of its own depends on where intervals happen to begin.
SMALLEST_RECURRING_WEIGHT = 0.0005

# If a larger share of the intervals are mixtures, the program looks like that at this interval
# length, and mixtures found phases like any other.
MOST_MIXTURES = 0.1
# A mixture is a transition if at least a quarter of its instructions are not those of a phase. If
# more than MOST_OUTSIDE of the intervals would then be in no phase, at least half must not be.
LIKE_MIXTURE = 0.5
MOST_OUTSIDE = 0.05

UNKNOWN = -1  # no phase: the row gets the phase of the row before it

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Boundary:
    """`row` is the first of phase `after`; `before` is None where a thread begins."""

    row: int
    before: int | None
    after: int


@dataclass(frozen=True)
class Segmentation:
    """Phases are numbered from 0 by first appearance; `representatives` are rows.

    Every row is in the phase whose representative is nearest, but transitions are in none. They are
    mixtures of their neighbours, rows that resemble no phase, and rows in which a thread waited for
    another. Rows of the last two sorts are assigned as the row before them. Waiting rows found no
    phase, whatever they resemble.
    """

    normalised: Normalised
    assignment: Labels
    transition: Mask
    unlike: Mask  # those of the transitions that resemble no phase
    representatives: tuple[int, ...]
    boundaries: tuple[Boundary, ...]
    waiting: Mask  # those of the transitions in which a thread spun


def segment(profile: Profile, count: int | None = None) -> Segmentation:
    """Find the phases of a profile: as many as the data show, or `count`."""
    _require_instructions(profile)
    normalised = Normalised.of(profile)
    mixed, transition = _mixed_rows(profile, normalised)
    waited = waiting.rows(profile)
    looked_at = (profile.instructions > 0) & ~waited
    if looked_at.any() and transition[looked_at].mean() > MOST_MIXTURES:
        mixed, transition = np.zeros((2, len(mixed)), dtype=np.bool_)
    core = _core_rows(profile, mixed | waited)
    core = core[~waited[core]]
    transition[core] = False  # if nothing else is left, mixtures are the core
    found = _founded(profile, normalised, core, waited, count)
    unlike = (found.distance >= refinement.STRANGER) & ~waited
    outside = unlike | (transition & (found.distance >= LIKE_MIXTURE))
    if looked_at.any() and outside[looked_at].mean() > MOST_OUTSIDE:
        outside = unlike
    known = np.where(unlike | waited, UNKNOWN, found.nearest)
    assignment, representatives = _number_by_appearance(
        continued(known, profile.thread), found.representatives
    )
    return Segmentation(
        normalised,
        assignment,
        outside | waited,
        unlike,
        tuple(int(row) for row in representatives),
        boundaries(profile.thread, assignment),
        waited,
    )


def _founded(
    profile: Profile, normalised: Normalised, core: Rows, waited: Mask, count: int | None
) -> Settled:
    """Find the phases of the core, and every row's distance from the nearest."""
    groups = clustering.groups_of(normalised, core, count)
    if count is not None:
        return refinement.settled(normalised, core, core[groups.medoids], groups.labels)
    groups = _lasting_groups(profile, core, groups, _lengths(profile)[~waited].sum())
    found = core[groups.medoids]
    placed = swapping.placed(normalised, core, found, tree.MOST_PARTS)
    labels = groups.labels if np.array_equal(placed, found) else np.full(len(core), -1)
    return refinement.settled(normalised, core, placed, labels)


def same_thread_as_before(thread: npt.NDArray[np.int32]) -> Mask:
    """Whether the row before belongs to the same thread."""
    same = np.zeros(len(thread), dtype=np.bool_)
    same[1:] = thread[1:] == thread[:-1]
    return same


def _require_instructions(profile: Profile) -> None:
    rows = len(profile.instructions)
    if rows == 0 or profile.vectors.nnz == 0 or not np.any(profile.instructions > 0):
        raise ArtefactError(
            "the profile is empty: no interval holds an instruction; "
            "profile the program again, and see that it runs"
        )
    shapes = {profile.vectors.shape[0], profile.counts.shape[0], len(profile.thread), rows}
    if len(shapes) > 1:
        raise ArtefactError("the profile is damaged: its tables differ in length; make it anew")


def _core_rows(profile: Profile, mixed: Mask) -> Rows:
    filled = profile.instructions > 0
    lengths = _lengths(profile)
    whole = lengths >= SMALLEST_INTERVAL * np.median(lengths[filled])
    core = filled & whole & ~mixed
    return np.flatnonzero(core if core.any() else filled)


def _lengths(profile: Profile) -> npt.NDArray[np.float64]:
    """How long the rows are, in the unit of the intervals.

    In intervals of time, a row has few instructions if it mostly ran libraries and the kernel,
    which were not counted; it lasted as long as any other. If there are several threads, only the
    instructions say how much of an interval each thread had.
    """
    if profile.unit == "nanoseconds" and profile.facts.threads == 1:
        return np.ones(len(profile.instructions))
    return profile.instructions.astype(np.float64)


def _mixed_rows(profile: Profile, normalised: Normalised) -> tuple[Mask, Mask]:
    """Rows that may be a mixture of the rows before and after, and transitions, which surely are.

    In the Manhattan metric a mixture of two vectors lies exactly between them: its distances
    to both add up to the distance of the two. That also holds for the last row of a phase, which
    has nothing of the next phase. So a transition must also differ from both neighbours.
    """
    mixed = np.zeros(normalised.shape[0], dtype=np.bool_)
    transition = mixed.copy()
    if normalised.shape[0] < 3:
        return mixed, transition
    step, leap = vectors.consecutive(normalised, (1, 2))
    detour = step[:-1] + step[1:] - leap
    same = same_thread_as_before(profile.thread)
    mixed[1:-1] = (
        (leap >= tree.SMALLEST_DIFFERENCE)
        & (detour <= TRANSITION_EXCESS * leap)
        & same[1:-1]
        & same[2:]
    )
    differs = step >= tree.SMALLEST_DIFFERENCE
    transition[1:-1] = mixed[1:-1] & differs[:-1] & differs[1:]
    return mixed, transition


def _lasting_groups(profile: Profile, core: Rows, groups: Groups, whole: float) -> Groups:
    """Drop groups that are too small a part of the whole; their rows get the label -1."""
    count = len(groups.medoids)
    lengths = _lengths(profile)
    weight = np.bincount(groups.labels, weights=lengths[core], minlength=count)
    rows = np.bincount(groups.labels, minlength=count)
    again = _comes_again(profile, core, groups.labels, count)
    share = weight / whole
    recurs = again & (share >= SMALLEST_RECURRING_WEIGHT)
    keep = (rows >= 2) & ((share >= SMALLEST_WEIGHT) | recurs)
    if not keep.any():
        keep[weight.argmax()] = True
    lightest_first = np.argsort(np.where(keep, weight, 0.0), kind="stable")
    keep[lightest_first[: -tree.MOST_PARTS]] = False
    renumbered = np.where(keep, np.cumsum(keep) - 1, -1)
    return Groups(renumbered[groups.labels], groups.medoids[keep])


def _comes_again(profile: Profile, core: Rows, labels: Labels, count: int) -> Mask:
    """Which groups a thread enters at least twice, with some of the run between; core rows only.

    Work that every thread, or every rank, does once is a start-up and not a phase that comes again.
    The same holds for work that comes again within one start-up.
    """
    thread = profile.thread[core]
    enters = np.ones(len(core), dtype=np.bool_)
    enters[1:] = (labels[1:] != labels[:-1]) | (thread[1:] != thread[:-1])
    threads, own = np.unique(thread[enters], return_inverse=True)
    cell = own * count + labels[enters]
    entered = profile.start[core][enters]
    first = np.full(len(threads) * count, np.iinfo(np.int64).max)
    last = np.zeros(len(threads) * count, dtype=np.int64)
    np.minimum.at(first, cell, entered)
    np.maximum.at(last, cell, entered)
    length = int((profile.start + profile.instructions).max())
    again = last - first >= max(SMALLEST_WEIGHT * length, 1)
    return np.asarray(again.reshape(len(threads), count).any(axis=0))


def continued(assignment: Labels, thread: npt.NDArray[np.int32]) -> Labels:
    """Give rows without a phase that of the row before; at a thread's start, of the row after."""
    result = assignment.copy()
    for number in np.unique(thread):
        rows = np.flatnonzero(thread == number)
        known = np.flatnonzero(assignment[rows] != UNKNOWN)
        if len(known):
            source = np.searchsorted(known, np.arange(len(rows)), side="right") - 1
            result[rows] = assignment[rows[known[np.maximum(source, 0)]]]
        else:
            # None of the thread's rows has a phase: take the phase that most of the run is in.
            result[rows] = np.bincount(assignment[assignment != UNKNOWN]).argmax()
    return result


def _number_by_appearance(assignment: Labels, representatives: Rows) -> tuple[Labels, Rows]:
    present, first = np.unique(assignment, return_index=True)
    order = present[np.argsort(first, kind="stable")]
    number = np.full(len(representatives), -1, dtype=np.int64)
    number[order] = np.arange(len(order))
    return number[assignment], representatives[order]


def boundaries(thread: npt.NDArray[np.int32], assignment: Labels) -> tuple[Boundary, ...]:
    """Where a thread begins, and where its rows go from one phase to another."""
    found = [Boundary(0, None, int(assignment[0]))]
    for row, (before, after) in enumerate(pairwise(assignment.tolist()), start=1):
        if thread[row] != thread[row - 1]:
            found.append(Boundary(row, None, after))
        elif before != after:
            found.append(Boundary(row, before, after))
    return tuple(found)
