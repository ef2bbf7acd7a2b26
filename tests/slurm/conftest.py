# SPDX-License-Identifier: GPL-2.0-or-later
"""Slurm for the tests. This file puts the helper modules' folders on the path."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "trials"), str(HERE.parent / "kadapt/trials")]

import cluster  # noqa: E402
from adapting import AdaptingCluster  # noqa: E402
from bundles import Bundles  # noqa: E402


@pytest.fixture(scope="session")
def slurm() -> type[cluster.Cluster]:
    """The class of clusters; skips the test if no cluster can be started here."""
    if reason := cluster.missing():
        pytest.skip(reason)
    return cluster.Cluster


@pytest.fixture(scope="session")
def plain_cluster(slurm: type[cluster.Cluster]) -> Iterator[cluster.Cluster]:
    """Two nodes with accounting and without Kadence."""
    with slurm(nodes=2, accounting=True) as started:
        yield started


@pytest.fixture(scope="session")
def bundles(generic_kernel: Any) -> Iterator[Bundles]:
    """Makes bundles in a folder where every user can read them."""
    folder = Path(tempfile.mkdtemp(prefix="kadence-bundles-"))
    folder.chmod(0o777)
    yield Bundles(folder, generic_kernel)
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def good(bundles: Bundles) -> Path:
    """A bundle without faults."""
    return bundles.bundle("work")


@pytest.fixture(scope="session")
def adapting(slurm: type[cluster.Cluster], bundles: Bundles) -> Iterator[AdaptingCluster]:
    """Two nodes with Kadence, accounting and a TaskProlog."""
    prolog = bundles.folder / "task-prolog"
    prolog.write_text("#!/bin/sh\necho export FROM_TASK_PROLOG=yes\n")
    prolog.chmod(0o755)
    with AdaptingCluster(
        nodes=2,
        accounting=True,
        task_prolog=prolog,
        plugin_arguments="comment=yes",
        site={"metrics": f"{bundles.folder}/metrics/%n/kadence.prom"},
    ) as started:
        for node in started.nodes:
            (bundles.folder / "metrics" / node).mkdir(parents=True)
        bundles.trust(started.folder / "keys")
        yield started
