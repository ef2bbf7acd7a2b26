# SPDX-License-Identifier: GPL-2.0-or-later
"""How workers share the tests: the tests of one file stay together, since they share its fixtures.

One worker runs all tests of Slurm. Each cluster counts its jobs from 1, and some tests look for a
job's processes on the whole machine, so clusters of two workers would see each other's processes.
"""

from typing import Any

from xdist.scheduler import LoadScopeScheduling

TOGETHER = ("tests/slurm/",)


def unit(test: str) -> str:
    """The folder or file whose tests all go to one worker."""
    for folder in TOGETHER:
        if test.startswith(folder):
            return folder
    return test.partition("::")[0]


class Sharing(LoadScopeScheduling):  # type: ignore[misc]
    """Gives out units in the order of their first tests."""

    def _split_scope(self, nodeid: str) -> Any:
        return unit(nodeid)
