# SPDX-License-Identifier: GPL-2.0-or-later
"""Chooses landmarks: intervals whose distances to all others let the page bound any distance.

With d(x, k) known for every interval x and landmark k, the triangle inequality gives

    max |d(x, k) - d(y, k)|  <=  d(x, y)  <=  min (d(x, k) + d(y, k))

The representatives of the phases come first. The other landmarks are chosen from the intervals
that were sampled for the tiles, each as far as possible from the landmarks before it (Gonzalez's
farthest-first traversal).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kadence.phases.find import vectors
from kadence.phases.find.vectors import Distances, Normalised
from kadence.phases.view.tiles import Tiles

MOST = 64
LARGEST_TABLE = 1_600_000  # distances that the page can hold


@dataclass(frozen=True)
class Landmarks:
    """`distances[x, k]` is the distance of interval x and landmark k."""

    rows: tuple[int, ...]
    distances: Distances


def choose(normalised: Normalised, tiles: Tiles, representatives: Sequence[int]) -> Landmarks:
    """Returns as many landmarks as the page has room for, at least one."""
    count = normalised.shape[0]
    wanted = max(1, min(MOST, LARGEST_TABLE // count, count))
    rows = list(dict.fromkeys(representatives))[:wanted]
    rows += _farthest_first(normalised, tiles, rows, wanted - len(rows))
    landmarks = normalised[rows]
    distances = np.vstack([vectors.pairwise(strip, landmarks) for _, strip in normalised.strips()])
    return Landmarks(tuple(rows), distances)


def _farthest_first(
    normalised: Normalised, tiles: Tiles, rows: Sequence[int], wanted: int
) -> list[int]:
    nearest = vectors.pairwise(normalised[tiles.sampled], normalised[list(rows)]).min(axis=1)
    chosen, _ = vectors.farthest_first(nearest, lambda point: tiles.distances[point], wanted)
    return [int(tiles.sampled[point]) for point in chosen]
