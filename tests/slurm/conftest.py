# SPDX-License-Identifier: GPL-2.0-or-later
"""Slurm for the tests; the helpers beside them are found from here."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import cluster  # noqa: E402


@pytest.fixture(scope="session")
def slurm() -> type[cluster.Cluster]:
    """The class of clusters, where one can be started."""
    if reason := cluster.missing():
        pytest.skip(reason)
    return cluster.Cluster


@pytest.fixture(scope="session")
def plain_cluster(slurm: type[cluster.Cluster]) -> Iterator[cluster.Cluster]:
    """Two nodes with accounting and without Kadence."""
    with slurm(nodes=2, accounting=True) as started:
        yield started
