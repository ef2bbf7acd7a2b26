# SPDX-License-Identifier: GPL-2.0-or-later
"""What `kadence doctor` finds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that was examined. `remedy` is a command or advice; empty if all is well."""

    subject: str
    why: str
    present: bool
    remedy: str = ""
    tried: bool = True  # False: no obstacle was found, but it has not been tried
