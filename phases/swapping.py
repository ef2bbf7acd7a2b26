# SPDX-License-Identifier: GPL-2.0-or-later
"""Moves the representatives of loose phases to where they stand for more.

The tree says how many phases there are and which of them are clear. What it cuts without a strong
structure it cuts somewhere, so those representatives are moved as Kaufman and Rousseeuw's PAM does
(1990, chapter 2): one is given up for another point, the swap after which the mean distance from
the nearest representative is smallest, until no swap lowers it. All swaps are judged at once, and
what they change is summed once and then kept up to date, as in FastPAM and FasterPAM (Schubert and
Rousseeuw 2019; 2021, section 3). A phase that is clear by itself stays: without that, a short one
would be given up to halve a long one's noise.
"""

import copy

import numpy as np
import numpy.typing as npt

from kadence.phases import tree, vectors
from kadence.phases.vectors import Distances, Normalised, Rows

SAMPLE = 1000  # rows, evenly spaced
STRIP = 64  # of these at a time, which a processor's cache holds
MOST_SWAPS = 100
LEAST_GAIN = 1e-3  # of the mean distance, by one swap
# How much larger the mean distance may be than it would be if clear phases were given up, too: by
# this factor and by this much, a four-hundredth of the instructions.
DEAREST, LEAST_DEAR = 1.15, 0.005
# Distances are rounded; in this unit they are whole numbers, and so are their sums: exact, in
# whatever order they are added and subtracted, below 2^53.
UNIT = 10.0**-vectors.DECIMALS
COARSE = -2  # decimals of a unit by which swaps are told apart


def placed(normalised: Normalised, core: Rows, representatives: Rows, most: int) -> Rows:
    """These representatives, or better ones among the core rows; a few more, if they are needed."""
    # A representative is in the sample, at a place that says whose it is.
    others = np.setdiff1d(vectors.evenly(core, SAMPLE), representatives)
    points = np.concatenate([representatives, others])
    distances = vectors.among(normalised[points])
    return np.asarray(points[chosen(distances, len(representatives), most)])


def chosen(distances: Distances, count: int, most: int) -> Rows:
    """Points that represent all, begun with the first `count`; `most` at most."""
    kept = _Search(np.rint(distances / UNIT), np.arange(count))
    kept.swap(keeps_clear=True)
    free = kept.copy()
    free.swap(keeps_clear=False)
    while len(kept.chosen) < most and _dear(kept.mean, free.mean):
        for search in (kept, free):
            search.add()
            search.swap(keeps_clear=search is kept)
    return kept.chosen


def _dear(kept: float, free: float) -> bool:
    return kept > DEAREST * free and kept - free > LEAST_DEAR


class _Search:
    """Some of the points, chosen to represent all, and what any swap would change.

    A point o with its nearest representative at n(o) and the second nearest at s(o) is min(d, n)
    away from the nearest if another comes at distance d, and min(d, s) if its own is given up for
    that one. So where representative i is given up for point c, the sum of distances changes by
    Σ [min(d(o, c), n) - n] over all points, and by Σ [min(d, s) - min(d, n)] over i's own, which
    is Σ [clip(d, n, s) - n]. A swap or a new representative changes n, s or the owner of some
    points only: these alone are taken out of the sums and put in anew.
    """

    def __init__(self, distances: Distances, chosen: Rows) -> None:
        self._distances = distances  # symmetric, in units
        self.chosen = chosen
        self._joined = np.zeros(len(distances))  # Σ min(d, n), of each point that may come
        self._given_up = np.zeros((len(chosen), len(distances)))  # Σ clip(d, n, s), of each swap
        self._owner, self._nearest, self._second = self._two_nearest()
        self._count(np.arange(len(distances)), np.add)

    def copy(self) -> "_Search":
        """Another search, which goes on from here."""
        other = copy.copy(self)
        other._joined, other._given_up = self._joined.copy(), self._given_up.copy()
        return other

    @property
    def mean(self) -> float:
        """How far a point is from the nearest representative."""
        return round(float(self._nearest.mean()) * UNIT, vectors.DECIMALS)

    def add(self) -> None:
        """Choose one more: the point that brings the mean distance down most."""
        self._given_up = np.vstack([self._given_up, np.zeros(len(self._distances))])
        self._choose(np.append(self.chosen, np.round(self._joined, COARSE).argmin()))

    def swap(self, *, keeps_clear: bool) -> None:
        """Make the best swaps, one after the other."""
        for _ in range(MOST_SWAPS if len(self.chosen) > 1 else 0):
            best = self._best_swap(keeps_clear)
            if best is None:
                break
            changed = self.chosen.copy()
            changed[best[0]] = best[1]
            self._choose(changed)

    def _best_swap(self, keeps_clear: bool) -> tuple[int, int] | None:
        """Which representative is given up for which point, if any is."""
        whole = self._nearest.sum()
        own = np.bincount(self._owner, weights=self._nearest, minlength=len(self.chosen))
        change = self._given_up + (self._joined - whole) - own[:, np.newaxis]
        if keeps_clear:
            change[self._clear()] = 0.0
        change = np.round(change, COARSE)
        given_up, point = np.unravel_index(int(change.argmin()), change.shape)
        if change[given_up, point] >= -LEAST_GAIN * whole:
            return None
        return int(given_up), int(point)

    def _clear(self) -> npt.NDArray[np.bool_]:
        """Which phases have a strong silhouette by themselves, measured from representatives."""
        nearest, second = self._nearest, self._second
        silhouette = np.divide(
            second - nearest, second, out=np.zeros_like(second), where=second > 0
        )
        count = len(self.chosen)
        sums = np.bincount(self._owner, weights=silhouette, minlength=count)
        sizes = np.maximum(np.bincount(self._owner, minlength=count), 1)
        return np.asarray(sums / sizes > tree.STRONG_STRUCTURE)

    def _choose(self, chosen: Rows) -> None:
        """Put these in place of those that were chosen, and bring the sums up to date."""
        before = self._owner, self._nearest, self._second
        self.chosen = chosen
        after = self._two_nearest()
        differs = [old != new for old, new in zip(before, after, strict=True)]
        rows = np.flatnonzero(np.logical_or.reduce(differs))
        self._count(rows, np.subtract)
        self._owner, self._nearest, self._second = after
        self._count(rows, np.add)

    def _two_nearest(self) -> tuple[Rows, Distances, Distances]:
        """Of every point the nearest representative's number, its distance, and the second's."""
        to_chosen = self._distances[self.chosen]
        points = np.arange(len(self._distances))
        owner = to_chosen.argmin(axis=0)
        nearest = to_chosen[owner, points]
        to_chosen[owner, points] = vectors.LARGEST_DISTANCE / UNIT
        return owner, nearest, to_chosen.min(axis=0)

    def _count(self, rows: Rows, step: np.ufunc) -> None:
        """Put what these points add to the sums in, or take it out: np.add or np.subtract."""
        rows = rows[np.argsort(self._owner[rows], kind="stable")]
        for first in range(0, len(rows), STRIP):
            self._count_strip(rows[first : first + STRIP], step)

    def _count_strip(self, rows: Rows, step: np.ufunc) -> None:
        """The same of a few points, in the order of their owners."""
        owners, first = np.unique(self._owner[rows], return_index=True)
        distances = self._distances[rows]
        nearest, second = self._nearest[rows, np.newaxis], self._second[rows, np.newaxis]
        step(self._joined, np.minimum(distances, nearest).sum(axis=0), out=self._joined)
        between = np.clip(distances, nearest, second, out=distances)
        self._given_up[owners] = step(
            self._given_up[owners], np.add.reduceat(between, first, axis=0)
        )
