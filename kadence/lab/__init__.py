# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab: an x86_64 guest whose clock counts instructions. docs/lab.md describes its purpose.

`run` runs a command on the host's files. `take` measures single operations in a bare guest.
"""

from kadence.lab.figures import Figure, Sheet, take
from kadence.lab.guest import Guest, stock
from kadence.lab.session import Reading, run

__all__ = ["Figure", "Guest", "Reading", "Sheet", "run", "stock", "take"]
