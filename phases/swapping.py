# SPDX-License-Identifier: GPL-2.0-or-later
"""Moves the representatives of loose phases to where they stand for more.

The tree says how many phases there are and which of them are clear. What it cuts without a strong
structure it cuts somewhere, so those representatives are moved as Kaufman and Rousseeuw's PAM does
(1990, chapter 2): one is given up for another point, the swap after which the mean distance from
the nearest representative is smallest, until no swap lowers it. All swaps are judged at once, as in
FastPAM (Schubert and Rousseeuw 2019). A phase that is clear by itself stays: without that, a short
one would be given up to halve a long one's noise.
"""

import numpy as np
import numpy.typing as npt

from kadence.phases import tree, vectors
from kadence.phases.vectors import Distances, Normalised, Rows

SAMPLE = 1000  # rows, evenly spaced
MOST_SWAPS = 100
LEAST_GAIN = 1e-3  # of the mean distance, by one swap
# How much larger the mean distance may be than it would be if clear phases were given up, too: by
# this factor and by this much, a four-hundredth of the instructions.
DEAREST, LEAST_DEAR = 1.15, 0.005


def placed(normalised: Normalised, core: Rows, representatives: Rows, most: int) -> Rows:
    """These representatives, or better ones among the core rows; a few more, if they are needed."""
    # A representative is in the sample, at a place that says whose it is.
    others = np.setdiff1d(vectors.evenly(core, SAMPLE), representatives)
    points = np.concatenate([representatives, others])
    distances = vectors.among(normalised[points])
    chosen = _swapped(distances, np.arange(len(representatives)), keeps_clear=True)
    free = _swapped(distances, chosen, keeps_clear=False)
    while len(chosen) < most and _dear(_mean(distances, chosen), _mean(distances, free)):
        chosen = _swapped(distances, _with_another(distances, chosen), keeps_clear=True)
        free = _swapped(distances, _with_another(distances, free), keeps_clear=False)
    return np.asarray(points[chosen])


def _dear(chosen: float, free: float) -> bool:
    return chosen > DEAREST * free and chosen - free > LEAST_DEAR


def _mean(distances: Distances, chosen: Rows) -> float:
    return float(np.round(distances[:, chosen].min(axis=1).mean(), vectors.DECIMALS))


def _with_another(distances: Distances, chosen: Rows) -> Rows:
    """And the point that brings the mean distance down most."""
    nearest = distances[:, chosen].min(axis=1)
    sums = np.minimum(distances, nearest[:, np.newaxis]).sum(axis=0)
    return np.append(chosen, np.round(sums, vectors.DECIMALS - 2).argmin())


def _swapped(distances: Distances, chosen: Rows, *, keeps_clear: bool) -> Rows:
    """After the best swaps, one after the other."""
    chosen = chosen.copy()
    for _ in range(MOST_SWAPS if len(chosen) > 1 else 0):
        best = _best_swap(distances, chosen, keeps_clear)
        if best is None:
            break
        chosen[best[0]] = best[1]
    return chosen


def _best_swap(distances: Distances, chosen: Rows, keeps_clear: bool) -> tuple[int, int] | None:
    """Which representative is given up for which point, if any is."""
    points = np.arange(len(distances))
    order = np.argsort(distances[:, chosen], axis=1, kind="stable")
    owner = order[:, 0]
    nearest = distances[points, chosen[owner]]
    second = distances[points, chosen[order[:, 1]]]
    membership = np.zeros((len(chosen), len(points)))
    membership[owner, points] = 1.0
    # What a new representative wins, and what its members lose where theirs is given up for it.
    wins = np.minimum(distances - nearest[:, np.newaxis], 0.0)
    loses = np.minimum(distances, second[:, np.newaxis]) - nearest[:, np.newaxis] - wins
    change = membership @ loses + wins.sum(axis=0)
    if keeps_clear:
        change[_clear(membership, nearest, second)] = 0.0
    change = np.round(change, vectors.DECIMALS - 2)
    given_up, point = np.unravel_index(int(change.argmin()), change.shape)
    if change[given_up, point] >= -LEAST_GAIN * nearest.sum():
        return None
    return int(given_up), int(point)


def _clear(membership: Distances, nearest: Distances, second: Distances) -> npt.NDArray[np.bool_]:
    """Which phases have a strong silhouette by themselves, measured from the representatives."""
    silhouette = np.divide(second - nearest, second, out=np.zeros_like(second), where=second > 0)
    sizes = np.maximum(membership.sum(axis=1), 1.0)
    return np.asarray(membership @ silhouette / sizes > tree.STRONG_STRUCTURE)
