# SPDX-License-Identifier: GPL-2.0-or-later
"""The prices of a kernel in instructions, from the operations that the lab counted (docs/lab.md).

What they get wrong: the lab counts no look-ups of paths and no mappings, so these cost as much as
a call that does nothing. An instruction is not a unit of time.
"""

from collections.abc import Mapping

from kadence.boot import costs
from kadence.boot.costs import Costs
from kadence.phases.describe.memory import PAGE_BYTES

CALL = "getppid"
OPERATIONS = {
    costs.FAULT: "page_small",
    costs.FILE_FAULT: "page_small",
    costs.POPULATE: "page_populated",
    costs.FORK: "fork_exit",
    costs.SOCKET: "tcp_send_16",
    costs.PIPE: "write_16",
}
# Charges for a small record and for a page, and the operations on records between the two.
RECORDS = ((costs.WRITE, costs.WRITTEN_PAGE, "write"), (costs.READ, costs.READ_PAGE, "read"))
RECORD_BYTES, SMALL, LARGE = 64, 256, 1024
# One of these is a switch, a write and a read.
SWITCH, SWITCH_CALLS = "context_switch", ("write_16", "read_16")


def of(counted: Mapping[str, float]) -> Costs | None:
    """The prices; None if not even a call was counted."""
    if CALL not in counted:
        return None
    found = {costs.CALL: counted[CALL]}
    found |= {charge: counted[name] for charge, name in OPERATIONS.items() if name in counted}
    for record, page, name in RECORDS:
        found |= _of_records(record, page, *(counted.get(f"{name}_{n}") for n in (SMALL, LARGE)))
    if SWITCH in counted and all(call in counted for call in SWITCH_CALLS):
        switch = counted[SWITCH] - sum(counted[call] for call in SWITCH_CALLS)
        # Two calls are charged for a switch.
        found[costs.WAIT] = found[costs.CALL] + max(switch, 0.0) / 2
    return Costs(found)


def _of_records(
    record: str, page: str, small: float | None, large: float | None
) -> dict[str, float]:
    """A record and a page on the line through the two sizes that were counted."""
    if small is None or large is None:
        return {}
    byte = (large - small) / (LARGE - SMALL)
    return {
        record: small - byte * (SMALL - RECORD_BYTES),
        page: large + byte * (PAGE_BYTES - LARGE),
    }
