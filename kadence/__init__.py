# SPDX-License-Identifier: GPL-2.0-or-later
"""Kadence makes a Linux kernel fit one batch job.

For notebooks: read_profile(), read_phases(), read_plan() and read_report() of kadence.notebook.
"""

from typing import Any

__all__ = ["read_phases", "read_plan", "read_profile", "read_report"]


def __getattr__(name: str) -> Any:
    # The command line does not need them, and they take a second to load.
    if name in __all__:
        from kadence import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module kadence has no {name}")
