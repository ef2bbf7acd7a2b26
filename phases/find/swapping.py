# SPDX-License-Identifier: GPL-2.0-or-later
"""Moves the representatives of loose phases to where they stand for more.

The tree says how many phases there are and which of them are clear. Where the structure is not
strong, its cut is arbitrary. So those representatives are moved as in Kaufman and Rousseeuw's PAM
(1990, chapter 2). A swap gives up one representative for another point. PAM makes the swap after
which the mean distance from the nearest representative is smallest, until no swap lowers it. All
swaps are judged at once. The sums of their changes are computed once and then kept up to date, as
in FastPAM and FasterPAM (Schubert and Rousseeuw 2019; 2021, section 3). A phase that is clear by
itself stays; otherwise a short phase would be given up to halve a long phase's noise.
"""

import copy

import numpy as np
import numpy.typing as npt

from kadence.phases.find import tree, vectors
from kadence.phases.find.vectors import Distances, Normalised, Rows

SAMPLE = 1000  # rows, evenly spaced
STRIP = 64  # points processed at a time; they fit a processor's cache
MOST_SWAPS = 100
LEAST_GAIN = 1e-3  # of the mean distance, by one swap.
# How much larger the mean distance may be than if clear phases were given up, too: by this factor
# and by this difference, a four-hundredth of the instructions.
DEAREST, LEAST_DEAR = 1.15, 0.005
# Distances are rounded, so in this unit they and their sums are whole numbers. Below 2^53 the sums
# are exact, in whatever order terms are added and subtracted.
UNIT = 10.0**-vectors.DECIMALS
COARSE = -2  # rounding, in units, when swaps are compared


def placed(normalised: Normalised, core: Rows, representatives: Rows, most: int) -> Rows:
    """These representatives, or better ones among the core rows, and a few more if needed."""
    # The representatives come first in the sample, in their order.
    others = np.setdiff1d(vectors.evenly(core, SAMPLE), representatives)
    points = np.concatenate([representatives, others])
    distances = vectors.among(normalised[points])
    return np.asarray(points[chosen(distances, len(representatives), most)])


def chosen(distances: Distances, count: int, most: int) -> Rows:
    """At most `most` points that represent all, starting from the first `count`."""
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

    A point o has its nearest representative at distance n(o) and the second nearest at s(o). If
    another representative comes at distance d, the nearest is min(d, n) away. If o's own is given
    up for that one, the nearest is min(d, s) away. So giving up representative i for point c
    changes the sum of distances in two parts:

        Σ [min(d(o, c), n) - n] over all points, and
        Σ [min(d, s) - min(d, n)] = Σ [clip(d, n, s) - n] over the points whose owner is i.

    A swap or a new representative changes n, s or the owner of some points only. These points alone
    are subtracted from the sums and added again.
    """

    def __init__(self, distances: Distances, chosen: Rows) -> None:
        self._distances = distances  # symmetric, in units
        self.chosen = chosen
        self._joined = np.zeros(len(distances))  # Σ min(d, n), of each point that may be chosen
        self._given_up = np.zeros((len(chosen), len(distances)))  # Σ clip(d, n, s), of each swap
        self._owner, self._nearest, self._second = self._two_nearest()
        self._count(np.arange(len(distances)), np.add)

    def copy(self) -> "_Search":
        """Return another search that continues from this state."""
        other = copy.copy(self)
        other._joined, other._given_up = self._joined.copy(), self._given_up.copy()
        return other

    @property
    def mean(self) -> float:
        """How far a point is from the nearest representative."""
        return round(float(self._nearest.mean()) * UNIT, vectors.DECIMALS)

    def add(self) -> None:
        """Choose one more: the point that lowers the mean distance most."""
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
        """The representative to give up and the point that replaces it, or None."""
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
        """Replace the chosen points by these, and update the sums."""
        before = self._owner, self._nearest, self._second
        self.chosen = chosen
        after = self._two_nearest()
        differs = [old != new for old, new in zip(before, after, strict=True)]
        rows = np.flatnonzero(np.logical_or.reduce(differs))
        self._count(rows, np.subtract)
        self._owner, self._nearest, self._second = after
        self._count(rows, np.add)

    def _two_nearest(self) -> tuple[Rows, Distances, Distances]:
        """Every point's nearest representative and its distance, and the second's distance."""
        to_chosen = self._distances[self.chosen]
        points = np.arange(len(self._distances))
        owner = to_chosen.argmin(axis=0)
        nearest = to_chosen[owner, points]
        to_chosen[owner, points] = vectors.LARGEST_DISTANCE / UNIT
        return owner, nearest, to_chosen.min(axis=0)

    def _count(self, rows: Rows, step: np.ufunc) -> None:
        """Add these points' terms to the sums (np.add) or subtract them (np.subtract)."""
        rows = rows[np.argsort(self._owner[rows], kind="stable")]
        for first in range(0, len(rows), STRIP):
            self._count_strip(rows[first : first + STRIP], step)

    def _count_strip(self, rows: Rows, step: np.ufunc) -> None:
        """The same for a few points, in the order of their owners."""
        owners, first = np.unique(self._owner[rows], return_index=True)
        distances = self._distances[rows]
        nearest, second = self._nearest[rows, np.newaxis], self._second[rows, np.newaxis]
        step(self._joined, np.minimum(distances, nearest).sum(axis=0), out=self._joined)
        between = np.clip(distances, nearest, second, out=distances)
        self._given_up[owners] = step(
            self._given_up[owners], np.add.reduceat(between, first, axis=0)
        )
