# SPDX-License-Identifier: GPL-2.0-or-later
"""What memory costs on this machine's own kernel: measured once, remembered for libkadapt."""

import json
import subprocess
from typing import Any

from kadence import resources
from kadence.errors import KadenceError, ToolError
from kadence.finding import Finding

PATIENCE_SECONDS = 60
SUBJECT = "what memory costs on this machine's own kernel"


def remembered() -> dict[str, Any]:
    """What holds for this machine; measured first, in under a second, where nothing is known."""
    command = [str(resources.built("kadapt/measure-memory"))]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS
        )
    except subprocess.CalledProcessError as error:
        raise ToolError(error.stderr.strip() or "measure-memory failed without a word") from error
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"measure-memory took over {PATIENCE_SECONDS} s") from error
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def examine() -> Finding:
    """For the doctor. Where nothing can be remembered, programs do what malloc does."""
    try:
        found = remembered()
    except KadenceError as error:
        return Finding(SUBJECT, f"not known, so that nothing is populated: {error}", True)
    populate = "pays" if found["populate"] else "does not pay"
    huge = "pay" if found["huge"] else "do not pay"
    why = " in a virtual machine" if found["virtual"] and not found["huge"] else ""
    return Finding(SUBJECT, f"population in bulk {populate}; huge pages {huge}{why}", True)
