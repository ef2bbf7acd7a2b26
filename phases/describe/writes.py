# SPDX-License-Identifier: GPL-2.0-or-later
"""A phase's writes: by which library calls, from which functions of the program."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from kadence.phases.describe import io_calls, places
from kadence.phases.describe.places import Place
from kadence.phases.describe.source import FunctionLines
from kadence.profiler.format.profile import CallSite, Profile, SystemCalls

SYSTEM_CALLS = frozenset(["write", "writev", "pwrite64", "pwritev", "sendto", "sendmsg"])
ENDS = {"file": "files", "pipe": "pipes", "socket": "sockets"}  # for messages

Origin = tuple[str, tuple[Place, ...]]
UNKNOWN: Origin = ("", ())


class Writers:
    """The places in a profile that make system calls."""

    def __init__(self, profile: Profile) -> None:
        self._sites = profile.call_sites
        self._lines = FunctionLines(profile.functions)
        self._known: dict[int, Origin] = {}

    def of_phase(self, calls: Iterable[SystemCalls]) -> list[dict[str, Any]]:
        """Return the writes among these calls, as entries of the artefact's phase."""
        sums: defaultdict[tuple[Origin, str, str], list[int]] = defaultdict(lambda: [0, 0])
        for call in calls:
            if call.name in SYSTEM_CALLS and call.descriptor in ENDS:
                entry = sums[self._origin(call.site), call.name, call.descriptor]
                entry[0] += call.count
                entry[1] += call.bytes
        return [
            {
                "call": call,
                "places": [place.described() for place in where],
                "name": name,
                "descriptor": descriptor,
                "count": int(count),
                "bytes": int(moved),
            }
            for ((call, where), name, descriptor), (count, moved) in sorted(sums.items())
        ]

    def _origin(self, site: int | None) -> Origin:
        if site is None:
            return UNKNOWN
        if site not in self._known:
            self._known[site] = self._look_up(self._sites[site])
        return self._known[site]

    def _look_up(self, site: CallSite) -> Origin:
        return io_calls.library_name(site.call), places.of_site(site, self._lines)
