# SPDX-License-Identifier: GPL-2.0-or-later
"""What `kadence doctor` finds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `remedy` is a command or an advice, empty where all is well."""

    subject: str
    why: str
    present: bool
    remedy: str = ""
    tried: bool = True  # False: nothing speaks against it, but nobody has seen it work
