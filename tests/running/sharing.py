# SPDX-License-Identifier: GPL-2.0-or-later
"""How workers share the tests: a file's stay together, for they share its fixtures.

Slurm's are all one worker's. Each cluster counts its jobs from 1 and some tests look for a job's
processes on the whole machine, so two clusters of two workers would see one another's.
"""

from typing import Any

from xdist.scheduler import LoadScopeScheduling

TOGETHER = ("tests/slurm/",)


def unit(test: str) -> str:
    """What goes to one worker as a whole: a folder or a file."""
    for folder in TOGETHER:
        if test.startswith(folder):
            return folder
    return test.partition("::")[0]


class Sharing(LoadScopeScheduling):  # type: ignore[misc]
    """Gives out units in the order in which their first tests stand."""

    def _split_scope(self, nodeid: str) -> Any:
        return unit(nodeid)
