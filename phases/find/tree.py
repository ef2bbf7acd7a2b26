# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds groups of similar points; how many there are comes from the data.

Points are joined into a tree by average linkage of their distances. From the root down, every
branch is cut into the number of parts with the best mean silhouette. It is cut only if that
silhouette says "a strong structure" and the parts are far enough apart to matter. Without such a
structure, a branch is cut in two as long as its medoid does not stand for all of it.
docs/phases-method.md has the reasons.
"""

from typing import NoReturn

import numpy as np
import numpy.typing as npt

from kadence.base.errors import UsageError
from kadence.phases.find import vectors
from kadence.phases.find.vectors import Distances

MOST_PARTS = 30  # SimPoint's customary maxK.
STRONG_STRUCTURE = 0.7  # Kaufman and Rousseeuw's mark for a silhouette.
SMALLEST_DIFFERENCE = 0.2  # a tenth of the instructions run elsewhere.
STRANGER = 1.0  # two points this far apart have at most half in common.
MOST_STRANGERS = 0.01  # of all points, in a branch that is not cut; so few are no phase

Labels = npt.NDArray[np.int64]
Weights = npt.NDArray[np.int64]


def grouped(distances: Distances, weights: Weights, count: int | None = None) -> Labels:
    """The group of every point, where point i counts weights[i] times.

    There are `count` groups, or as many as the data show.
    """
    labels = np.zeros(len(weights), dtype=np.int64)
    if len(weights) < 2:
        return labels if count in (None, 1) else _too_many(count, 1)
    tree = _Tree(distances)
    if count is None:
        branches = _separated(tree, tree.root, distances, weights)
    else:
        branches = _cut_into(tree, count)
    for number, branch in enumerate(branches):
        labels[tree.leaves(branch)] = number
    return labels


def _cut_into(tree: "_Tree", count: int) -> list[int]:
    """Cut the tree into `count` branches; the last joining is cut first."""
    parts = [tree.root]
    while len(parts) < count:
        highest = _highest(tree, parts)
        if tree.height(highest) == 0:
            _too_many(count, len(parts))
        parts = _cut(tree, parts, highest)
    return parts


def _too_many(count: int | None, there_are: int) -> NoReturn:
    raise UsageError(
        f"{count} phases were asked for, and the profile's intervals fall into {there_are} at "
        "most; ask for fewer, or profile with a shorter --interval"
    )


def _highest(tree: "_Tree", parts: list[int]) -> int:
    return max(parts, key=lambda node: (tree.height(node), -node))


def _cut(tree: "_Tree", parts: list[int], branch: int) -> list[int]:
    return [part for part in parts if part != branch] + list(tree.branches(branch))


class _Tree:
    """The dendrogram: leaves 0…n-1, then one node for each joining, in rising order."""

    def __init__(self, distances: Distances) -> None:
        # Imported here because it takes a second to load and most commands find no groups.
        from sklearn.cluster import AgglomerativeClustering

        self.leaf_count = len(distances)
        model = AgglomerativeClustering(
            n_clusters=None, distance_threshold=0, metric="precomputed", linkage="average"
        ).fit(distances)
        self.children = model.children_
        self.heights = np.round(model.distances_, vectors.DECIMALS)
        self.root = 2 * self.leaf_count - 2

    def height(self, node: int) -> float:
        """The mean distance of the two branches that meet in this node."""
        return 0.0 if node < self.leaf_count else float(self.heights[node - self.leaf_count])

    def branches(self, node: int) -> tuple[int, int]:
        first, second = self.children[node - self.leaf_count]
        return int(first), int(second)

    def leaves(self, node: int) -> npt.NDArray[np.int64]:
        found, open_nodes = [], [node]
        while open_nodes:
            current = open_nodes.pop()
            if current < self.leaf_count:
                found.append(current)
            else:
                open_nodes.extend(self.branches(current))
        return np.array(sorted(found), dtype=np.int64)


def _separated(tree: _Tree, root: int, distances: Distances, weights: Weights) -> list[int]:
    """The branches that are groups: cut repeatedly where the structure is strong.

    A single cut for the whole tree would hide two groups that are near each other in comparison
    with a third. Where no structure is strong, a branch is cut as long as its medoid has little in
    common with some of its points: these would be in no phase.
    """
    strangers_allowed = MOST_STRANGERS * weights.sum()
    groups, undecided = [], [root]
    while undecided:
        branch = undecided.pop()
        leaves = tree.leaves(branch)
        within, leaf_weights = distances[np.ix_(leaves, leaves)], weights[leaves]
        parts = _best_cut(tree, branch, within, leaf_weights)
        if len(parts) == 1 and _strangers(within, leaf_weights) > strangers_allowed:
            parts = list(tree.branches(branch))
        if len(parts) > 1:
            undecided.extend(parts)
        else:
            groups.append(branch)
    return groups


def _strangers(distances: Distances, weights: Weights) -> int:
    """The weight of the points that have at most half in common with the medoid of all."""
    middle = medoid(distances, weights, np.arange(len(weights)))
    return int(weights[distances[middle] >= STRANGER].sum())


def _best_cut(tree: _Tree, branch: int, within: Distances, weights: Weights) -> list[int]:
    """The parts of a branch with the best strong silhouette; the branch alone if there is none.

    `within` are the distances of the branch's leaves, in their order.
    """
    leaves = tree.leaves(branch)
    labels = np.zeros(len(leaves), dtype=np.int64)
    # Summed distances of each leaf to each part; a cut changes two columns.
    sums = np.zeros((len(leaves), MOST_PARTS))
    sums[:, 0] = within @ weights
    best, best_score, parts = [branch], STRONG_STRUCTURE, [branch]
    while len(parts) < MOST_PARTS:
        highest = _highest(tree, parts)
        if tree.height(highest) < SMALLEST_DIFFERENCE:
            break
        cut, new = parts.index(highest), len(parts)
        parts[cut], goes = tree.branches(highest)
        parts.append(goes)
        members = np.searchsorted(leaves, tree.leaves(goes))
        labels[members] = new
        sums[:, new] = within[:, members] @ weights[members]
        sums[:, cut] = np.round(sums[:, cut] - sums[:, new], vectors.DECIMALS - 2)
        score = _silhouette(sums[:, : new + 1], weights, labels)
        if score > best_score:
            best, best_score = list(parts), score
    return best


def silhouette(distances: Distances, weights: Weights, labels: Labels) -> float:
    """Mean silhouette where point i counts weights[i] times (Rousseeuw 1987).

    A point that is alone in its cluster has the silhouette 0, as in that paper.
    """
    clusters = int(labels.max()) + 1
    membership = np.zeros((len(labels), clusters))
    membership[np.arange(len(labels)), labels] = weights
    return _silhouette(distances @ membership, weights, labels)


def _silhouette(sums: Distances, weights: Weights, labels: Labels) -> float:
    """The same, from the summed distances of each point to each cluster."""
    sizes = np.bincount(labels, weights=weights)
    points = np.arange(len(labels))
    own_size = sizes[labels]
    within = sums[points, labels] / np.maximum(own_size - 1, 1)
    between = sums / sizes
    between[points, labels] = np.inf
    nearest = between.min(axis=1)
    larger = np.maximum(within, nearest)
    score = np.divide(nearest - within, larger, out=np.zeros_like(larger), where=larger > 0)
    score[own_size == 1] = 0.0
    return round(float(np.average(score, weights=weights)), vectors.DECIMALS)


def medoid(distances: Distances, weights: Weights, members: npt.NDArray[np.int64]) -> int:
    """The member with the smallest summed distance to all others."""
    sums = distances[np.ix_(members, members)] @ weights[members]
    return int(members[np.round(sums, vectors.DECIMALS - 2).argmin()])
