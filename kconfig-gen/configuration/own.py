# SPDX-License-Identifier: GPL-2.0-or-later
"""Which of the symbols that guard the code that ran does the program itself need?

Fork, exit and the C library's start call into most features (exit_sem, __khugepaged_exit), whatever
the program. The program does not need a symbol in two cases: it used none of the system calls or
socket families that the symbol gives, or the traced machine needs the symbol to boot.
"""

from collections.abc import Sequence, Set
from dataclasses import replace

from kadence.kconfig.configuration import missing
from kadence.kconfig.trace.observed import Observed
from kadence.kconfig.trace.symbols import ANY, Symbol


def own(found: Sequence[Symbol], observed: Observed, machine: Set[str]) -> list[Symbol]:
    """Return the symbols; mark those that the program itself did not ask for as ANY.

    `machine` are the symbols without which the traced machine does not boot.
    """
    return sorted(
        (
            replace(symbol, ran=ANY)
            if symbol.symbol in machine or _passed_by(symbol.symbol, observed)
            else symbol
            for symbol in found
        ),
        key=lambda symbol: (symbol.ran == ANY, symbol.symbol),
    )


def _passed_by(symbol: str, observed: Observed) -> bool:
    calls, families = missing.calls_of(symbol), missing.families_of(symbol)
    if not calls and not families:
        return False
    return calls.isdisjoint(observed.system_calls) and families.isdisjoint(observed.socket_families)
