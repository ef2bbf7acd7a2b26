# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds groups of similar vectors; how many there are comes from the data.

The rows (or, in long profiles, leaders that stand for their surroundings) are joined into a
tree by average linkage of Manhattan distances. From the root down, every branch is cut into
the number of parts with the best mean silhouette, as long as that silhouette says "a strong
structure" and the parts are far enough apart to matter; docs/phases.md has the reasons.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.cluster import AgglomerativeClustering

from kadence.phases import vectors
from kadence.phases.vectors import Distances

ALL_PAIRS = 2000  # up to so many rows are compared pair by pair
LEADERS = 500  # in a longer profile so many at most stand for all
LEADER_RADIUS = 0.05  # a row this near to a leader needs none of its own
MOST_PARTS = 30  # SimPoint's customary maxK
STRONG_STRUCTURE = 0.7  # Kaufman and Rousseeuw's mark for a silhouette
SMALLEST_DIFFERENCE = 0.2  # a tenth of the instructions run elsewhere

Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Leaders:
    """Rows that stand for all: which they are, whom each row follows, how many follow each."""

    rows: npt.NDArray[np.int64]
    leader_of_row: npt.NDArray[np.int64]
    followers: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Groups:
    """The group of every row, and per group its medoid (a row)."""

    labels: Labels
    medoids: npt.NDArray[np.int64]


def groups_of(rows: sparse.csr_matrix) -> Groups:
    """Cluster the rows; groups are numbered by first appearance."""
    leaders = _leaders(rows)
    distances = vectors.among(rows[leaders.rows])
    of_leader = _numbered_by_appearance(
        _cluster(distances, leaders.followers), leaders.leader_of_row
    )
    medoids = [
        leaders.rows[_medoid(distances, leaders.followers, np.flatnonzero(of_leader == group))]
        for group in range(of_leader.max() + 1)
    ]
    return Groups(of_leader[leaders.leader_of_row], np.array(medoids, dtype=np.int64))


def silhouette(distances: Distances, weights: npt.NDArray[np.int64], labels: Labels) -> float:
    """Mean silhouette where point i counts weights[i] times (Rousseeuw 1987).

    A point that is alone in its cluster has the silhouette 0, as there.
    """
    clusters = int(labels.max()) + 1
    membership = np.zeros((len(labels), clusters))
    membership[np.arange(len(labels)), labels] = weights
    sizes = membership.sum(axis=0)
    sums = distances @ membership
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


def _leaders(rows: sparse.csr_matrix) -> Leaders:
    count = rows.shape[0]
    if count <= ALL_PAIRS:
        everyone = np.arange(count, dtype=np.int64)
        return Leaders(everyone, everyone, np.ones(count, dtype=np.int64))
    return _farthest_first(rows)


def _farthest_first(rows: sparse.csr_matrix) -> Leaders:
    """Gonzalez's traversal (1985): the next leader is the row farthest from all so far.

    Unlike a random sample it misses no rare behaviour.
    """
    chosen = [0]
    nearest = vectors.distances_to(rows, 0)
    leader_of_row = np.zeros(rows.shape[0], dtype=np.int64)
    while len(chosen) < LEADERS and nearest.max() > LEADER_RADIUS:
        chosen.append(int(nearest.argmax()))
        distance = vectors.distances_to(rows, chosen[-1])
        nearer = distance < nearest
        leader_of_row[nearer] = len(chosen) - 1
        nearest = np.minimum(nearest, distance)
    return Leaders(
        np.array(chosen, dtype=np.int64),
        leader_of_row,
        np.bincount(leader_of_row, minlength=len(chosen)).astype(np.int64),
    )


def _cluster(distances: Distances, weights: npt.NDArray[np.int64]) -> Labels:
    if len(weights) < 2:
        return np.zeros(len(weights), dtype=np.int64)
    tree = _Tree(distances)
    labels = np.zeros(len(weights), dtype=np.int64)
    for number, branch in enumerate(_separated(tree, tree.root, distances, weights)):
        labels[tree.leaves(branch)] = number
    return labels


class _Tree:
    """The dendrogram: leaves 0…n-1, then one node for each joining, in rising order."""

    def __init__(self, distances: Distances) -> None:
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


def _separated(
    tree: _Tree, root: int, distances: Distances, weights: npt.NDArray[np.int64]
) -> list[int]:
    """The branches that are groups: cut again and again where the structure is strong.

    Again, because one cut for the whole tree hides two groups that are near to each other
    in comparison with a third.
    """
    groups, undecided = [], [root]
    while undecided:
        branch = undecided.pop()
        parts = _best_cut(tree, branch, distances, weights)
        if len(parts) > 1:
            undecided.extend(parts)
        else:
            groups.append(branch)
    return groups


def _best_cut(
    tree: _Tree, branch: int, distances: Distances, weights: npt.NDArray[np.int64]
) -> list[int]:
    """The parts of a branch with the best strong silhouette; the branch alone if there is none."""
    leaves = tree.leaves(branch)
    within, leaf_weights = distances[np.ix_(leaves, leaves)], weights[leaves]
    best, best_score, parts = [branch], STRONG_STRUCTURE, [branch]
    while len(parts) < MOST_PARTS:
        highest = max(parts, key=lambda node: (tree.height(node), -node))
        if tree.height(highest) < SMALLEST_DIFFERENCE:
            break
        parts = [part for part in parts if part != highest] + list(tree.branches(highest))
        labels = np.zeros(len(leaves), dtype=np.int64)
        for number, part in enumerate(parts):
            labels[np.searchsorted(leaves, tree.leaves(part))] = number
        score = silhouette(within, leaf_weights, labels)
        if score > best_score:
            best, best_score = parts, score
    return best


def _numbered_by_appearance(labels: Labels, leader_of_row: npt.NDArray[np.int64]) -> Labels:
    seen = labels[leader_of_row]
    _, first = np.unique(seen, return_index=True)
    new_number = np.empty(len(first), dtype=np.int64)
    new_number[np.argsort(first, kind="stable")] = np.arange(len(first))
    return np.asarray(new_number[labels])


def _medoid(
    distances: Distances, weights: npt.NDArray[np.int64], members: npt.NDArray[np.int64]
) -> int:
    """The member with the smallest summed distance to all others."""
    sums = distances[np.ix_(members, members)] @ weights[members]
    return int(members[np.round(sums, vectors.DECIMALS - 2).argmin()])
