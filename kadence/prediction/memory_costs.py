# SPDX-License-Identifier: GPL-2.0-or-later
"""The costs of memory on this machine's own kernel: measured once, remembered for libkadapt."""

import json
import subprocess
from collections.abc import Mapping
from typing import Any

from kadence.base import resources
from kadence.base.errors import KadenceError, ToolError
from kadence.base.finding import Finding
from kadence.base.terminal import tell

PATIENCE_SECONDS = 60
MEASURED = "faults_ns"  # a new measurement has this key, a remembered one has not
SUBJECT = "the cost of memory on this machine's own kernel"


def remembered() -> dict[str, Any]:
    """The costs on this machine; if they are unknown, measure them in under a second."""
    command = [str(resources.built("kadapt/measure-memory"))]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS
        )
    except subprocess.CalledProcessError as error:
        raise ToolError(error.stderr.strip() or "measure-memory printed no error") from error
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"measure-memory took over {PATIENCE_SECONDS} s") from error
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def remember_for(plan: Mapping[str, Any]) -> None:
    """Measure the costs of memory on this machine, unless the plan does not use them.

    Remembered costs are not measured again. Programs that know no costs populate nothing.
    """
    if not plan["memory"]["sites"]:
        return
    try:
        found = remembered()
    except (KadenceError, OSError, ValueError) as error:
        tell(f"{SUBJECT} is not known, so programs populate nothing: {error}")
        return
    if MEASURED in found:
        tell(f"measured {SUBJECT}: {_in_words(found)}")


def examine() -> Finding:
    """Report the costs to the doctor. Programs that know no costs behave like malloc."""
    try:
        found = remembered()
    except KadenceError as error:
        return Finding(SUBJECT, f"not known, so programs populate nothing: {error}", True)
    return Finding(SUBJECT, _in_words(found), True)


def _in_words(found: Mapping[str, Any]) -> str:
    populate = "pays" if found["populate"] else "does not pay"
    huge = "pay" if found["huge"] else "do not pay"
    why = " in a virtual machine" if found["virtual"] and not found["huge"] else ""
    return f"populating pages {populate}; huge pages {huge}{why}"
