# SPDX-License-Identifier: GPL-2.0-or-later
"""Which of the symbols that guard what ran the program needs, and which only saw it pass by.

Fork, exit and the C library's start call into most features (exit_sem, __khugepaged_exit), and
they run whoever asks. Two things tell that nobody asked: of the system calls or socket families
that the feature is there for none was used; or the machine it was traced on needs it to boot.
"""

from collections.abc import Sequence, Set
from dataclasses import replace

from kadence.kconfig import missing
from kadence.kconfig.trace.observed import Observed
from kadence.kconfig.trace.symbols import ANY, Symbol


def own(found: Sequence[Symbol], observed: Observed, machine: Set[str]) -> list[Symbol]:
    """The symbols, those of the program that it did not ask for marked as anybody's.

    `machine` are the symbols without which the machine it was traced on does not boot.
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
