# SPDX-License-Identifier: GPL-2.0-or-later
"""Running a command under a kernel; `run` is all that other stages call."""

from kadence.boot.request import Request, Result
from kadence.boot.session import complaints, run

__all__ = ["Request", "Result", "complaints", "run"]
