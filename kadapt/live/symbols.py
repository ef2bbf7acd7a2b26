# SPDX-License-Identifier: GPL-2.0-or-later
"""The symbols of a kernel as it runs, and the functions among them that can be replaced.

Both come from the running kernel: /proc/kallsyms, and the function tracer's list of the addresses
at which it can call something. Where the kernel lies in memory does not matter, because only
differences of addresses are used.
"""

from collections import defaultdict
from collections.abc import Iterable

from kadence.base.errors import KadenceError
from kadence.kadapt.live.klp import Place

KALLSYMS = "/proc/kallsyms"
TRACED = "/sys/kernel/tracing/available_filter_functions_addrs"
COLD = ".cold"  # the rare part of a function, to which only the function jumps
CALL_BYTES = 5  # of the tracer's call
LANDING_PAD_BYTES = 4  # of endbr64, which may precede the call


class Symbols:
    """Answers where a symbol is, in the way in which live patching names it."""

    def __init__(self, kallsyms: Iterable[str], traced: Iterable[str]) -> None:
        self._addresses: dict[str, list[int]] = defaultdict(list)
        for line in kallsyms:
            address, _kind, name, *module = line.split()
            if not module:
                self._addresses[name].append(int(address, 16))
        self.traced = frozenset(int(line.split()[0], 16) for line in traced)

    def beginning(self, start: str) -> list[str]:
        """The names that begin so, in order."""
        return sorted(name for name in self._addresses if name.startswith(start))

    def place(self, name: str) -> Place:
        """A symbol of the kernel."""
        self._address(name)
        return Place(name, 0)

    def original(self, name: str) -> Place:
        """The place behind the function's call of the tracer, where the original goes on."""
        address = self._address(name)
        self._require_no_copy(name)
        for before in (0, LANDING_PAD_BYTES):
            if address + before in self.traced:
                return Place(name, 0, before + CALL_BYTES)
        raise KadenceError(
            f"{name} can't be replaced, because the kernel does not let it be traced; "
            "replace a function that calls it"
        )

    def _require_no_copy(self, name: str) -> None:
        """Refuse a function of which callers may call or contain a copy."""
        for other in self.beginning(f"{name}."):
            if not other.startswith(f"{name}{COLD}"):
                raise KadenceError(
                    f"{name} can't be replaced, because the compiler made {other} of a part or a "
                    "special case of it; replace a function that calls it"
                )

    def _address(self, name: str) -> int:
        addresses = self._addresses.get(name, [])
        if len(addresses) == 1:
            return addresses[0]
        if addresses:
            raise KadenceError(
                f"the kernel has {len(addresses)} symbols named {name}, so it is not clear which "
                "is meant; replace a function that calls it"
            )
        raise KadenceError(
            f"the kernel has no symbol {name}; the compiler may have made it a part of its "
            "callers, so replace those"
        )
