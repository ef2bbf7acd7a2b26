# SPDX-License-Identifier: GPL-2.0-or-later
"""SimPoint's published method, built with scikit-learn, and SimPoint itself, if it is on PATH.

Vectors of sum 1 are randomly projected to 15 dimensions and clustered by k-means from several
random starts (Sherwood and others 2002). The number of clusters is the smallest whose Bayesian
information criterion (Pelleg and Moore 2000) is at least nine tenths of the way from the worst to
the best (Hamerly and others 2005).
"""

import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from kadence.phases.find.vectors import Normalised

DIMENSIONS = 15
SEEDS = 5
ITERATIONS = 100
MOST_CLUSTERS = 30
SHARE_OF_BEST = 0.9
SMALLEST_VARIANCE = 1e-12  # stands for the variance 0 of identical points

Points = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


def projected(normalised: Normalised, seed: int = 1) -> Points:
    """Returns the vectors projected to 15 dimensions."""
    generator = np.random.default_rng(seed)
    directions = generator.uniform(-1, 1, (normalised.shape[1], DIMENSIONS))
    return np.concatenate([strip @ directions for _, strip in normalised.strips()])


def clustered(points: Points, count: int) -> Labels:
    """Returns the labels of the best of several k-means."""
    return np.asarray(_fitted(points, count).labels_)


def number_of_clusters(points: Points) -> int:
    """Returns the number of clusters that the criterion chooses."""
    most = min(MOST_CLUSTERS, len(np.unique(points.round(12), axis=0)))
    scores = np.array([_criterion(points, count) for count in range(1, most + 1)])
    enough = scores.min() + SHARE_OF_BEST * (scores.max() - scores.min())
    return int(np.argmax(scores >= enough)) + 1


def _fitted(points: Points, count: int) -> KMeans:
    model = KMeans(count, init="random", n_init=SEEDS, max_iter=ITERATIONS, random_state=1)
    return model.fit(points)


def _criterion(points: Points, count: int) -> float:
    model = _fitted(points, count)
    rows = len(points)
    sizes = np.bincount(model.labels_, minlength=count)
    sizes = sizes[sizes > 0]
    freedom = DIMENSIONS * max(rows - count, 1)
    variance = max(model.inertia_ / freedom, SMALLEST_VARIANCE)
    likelihood = (
        (sizes * np.log(sizes / rows)).sum()
        - rows * DIMENSIONS / 2 * np.log(2 * np.pi * variance)
        - freedom / 2
    )
    parameters = (count - 1) + DIMENSIONS * count + 1
    return float(likelihood - parameters / 2 * np.log(rows))


@dataclass(frozen=True)
class Raced:
    """SimPoint's own clusters of a file of vectors, and its time."""

    labels: Labels
    seconds: float


def installed() -> str | None:
    """Returns the path of SimPoint, or None."""
    return shutil.which("simpoint")


def raced(program: str, vectors: Path, count: int | None) -> Raced:
    """Run SimPoint on a text of vectors: with `count` clusters, or as many as it finds.

    Without a count it runs with `-maxK 30`.
    """
    asked = ["-k", str(count)] if count else ["-maxK", str(MOST_CLUSTERS)]
    with tempfile.TemporaryDirectory() as folder:
        labels = Path(folder) / "labels"
        begin = time.perf_counter()
        subprocess.run(
            [program, "-loadFVFile", str(vectors), *asked, "-saveLabels", str(labels)],
            check=True,
            capture_output=True,
            cwd=folder,
        )
        seconds = time.perf_counter() - begin
        found = np.loadtxt(labels, usecols=0, dtype=np.int64, ndmin=1)
    return Raced(found, seconds)
