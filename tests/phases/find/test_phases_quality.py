# SPDX-License-Identifier: GPL-2.0-or-later
"""Planted phases are found, even rare, noisy, drifting and uneven ones."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from bench.phases import synthetic
from kadence.base.errors import UsageError
from kadence.phases import analysis
from kadence.phases.find import clustering
from kadence.phases.find.segmentation import segment

SMALL = {"blocks": 2000, "per_interval": 100}
LONG = 2 * clustering.ALL_PAIRS  # so long that intervals are compared with a sample only

GOOD = 0.99  # adjusted Rand index


def rand_index(**shape: float) -> float:
    profile, labels = synthetic.make(synthetic.Shape(**(SMALL | shape)))
    return float(adjusted_rand_score(labels, segment(profile).assignment))


@pytest.mark.parametrize("intervals", [clustering.ALL_PAIRS // 2, LONG])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_eight_phases_one_of_them_rare_are_found(intervals, seed):
    assert rand_index(intervals=intervals, seed=seed) >= GOOD


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.2])
def test_noise_makes_no_phases_and_hides_none(noise):
    assert rand_index(intervals=LONG, noise=noise) >= GOOD


@pytest.mark.parametrize("drift", [0.0, 0.2])
def test_a_gradual_drift_makes_no_phases(drift):
    assert rand_index(intervals=LONG, drift=drift) >= GOOD


@pytest.mark.parametrize("phases", [2, 3, 15])
def test_as_many_phases_are_found_as_there_are(phases):
    assert rand_index(intervals=LONG, phases=phases) >= GOOD


def test_a_sample_says_what_all_pairs_say(monkeypatch):
    profile, _ = synthetic.make(synthetic.Shape(intervals=LONG, noise=0.3, **SMALL))
    sampled = segment(profile)
    monkeypatch.setattr(clustering, "ALL_PAIRS", LONG)
    assert segment(profile).assignment.tolist() == sampled.assignment.tolist()


def test_reported_distances_are_exact_although_a_sample_founded_the_phases():
    profile, _ = synthetic.make(synthetic.Shape(intervals=LONG, **SMALL))
    found = segment(profile)
    body = analysis.describe(profile, found)
    dense = found.normalised[:].toarray()
    for phase in body["phases"]:
        member = found.assignment == phase["id"]
        member[body["transitions"]] = False
        distances = cdist(dense[member], dense[[phase["representative"]]], "cityblock")
        assert phase["mean_distance"] == pytest.approx(distances.mean(), abs=1e-6)
        assert phase["largest_distance"] == pytest.approx(distances.max(), abs=1e-6)


@pytest.mark.parametrize("intervals", [500, LONG])
@pytest.mark.parametrize("count", [1, 3, 20])
def test_as_many_phases_are_made_as_were_asked_for(intervals, count):
    profile, _ = synthetic.make(synthetic.Shape(intervals=intervals, **SMALL))
    assert len(np.unique(segment(profile, count).assignment)) == count


def test_more_phases_than_there_can_be_are_refused():
    profile, _ = synthetic.make(synthetic.Shape(intervals=500, noise=0, drift=0, **SMALL))
    with pytest.raises(UsageError, match="fall into 8 at most"):
        segment(profile, 9)
