# SPDX-License-Identifier: GPL-2.0-or-later
"""What a tailored kernel could be given back: candidates for a repair, the best ones first.

Known inaccuracies: what is numeric or one of several choices is no candidate; and of a
dependency that either of two symbols would meet, both are put back.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kadence.kconfig.expression import evaluate, tokens
from kadence.kconfig.kconfig_files import Definition
from kadence.kconfig.rules import Requested

# Where what programs can notice is more often configured than elsewhere.
CORE = ("init/", "kernel/", "mm/", "fs/", "ipc/", "net/", "arch/", "lib/")


@dataclass(frozen=True)
class Dropped:
    """What is on in a kernel that serves and off in the one that does not."""

    tailored: Mapping[str, str]  # final values; {} where there is no such configuration
    reference: Mapping[str, str]
    definitions: Sequence[Definition]

    @cached_property
    def _by_symbol(self) -> dict[str, list[Definition]]:
        found: dict[str, list[Definition]] = {}
        for definition in self.definitions:
            found.setdefault(definition.symbol, []).append(definition)
        return found

    def batches(self, traced: Sequence[str], refused: Sequence[str]) -> list[list[str]]:
        """Candidates that no failure names, in the order in which they are worth trying.

        Those of which a trace saw something run, those that rules refuse, and the rest, the core of
        the kernel before drivers.
        """
        # Sorted, for the order decides what is found and must be the same everywhere.
        dropped = sorted(symbol for symbol, value in self.reference.items() if value == "y")
        core = [symbol for symbol in dropped if self._is_core(symbol)]
        refused_here = [symbol for symbol in refused if symbol in set(dropped)]
        tiers = [traced, refused_here, core, dropped]
        seen: set[str] = set()
        batches = []
        for tier in tiers:
            batch = [s for s in dict.fromkeys(tier) if s not in seen and self.can_be_put_back(s)]
            seen.update(batch)
            batches.append(batch)
        return [batch for batch in batches if batch]

    def can_be_put_back(self, symbol: str) -> bool:
        """Whether it is off, and somebody may switch it on."""
        return self.tailored.get(symbol, "n") == "n" and any(
            definition.prompt and not definition.choice
            for definition in self._by_symbol.get(symbol, ())
        )

    def _is_core(self, symbol: str) -> bool:
        return any(d.place.startswith(CORE) for d in self._by_symbol.get(symbol, ()))

    def with_dependencies(self, symbols: Iterable[str]) -> list[str]:
        """The symbols, and whatever they depend on that was dropped with them."""
        found: list[str] = []
        waiting = list(symbols)
        while waiting:
            symbol = waiting.pop(0)
            if symbol not in found:
                found.append(symbol)
                waiting += self._unmet(symbol)
        return found

    def _unmet(self, symbol: str) -> list[str]:
        conditions = [
            condition
            for definition in self._by_symbol.get(symbol, ())
            for condition in definition.conditions
            if evaluate(condition, self.tailored) == 0
        ]
        names = [
            token.text
            for condition in conditions
            for token in tokens(condition)
            if token.kind == "name" and self.reference.get(token.text) == "y"
        ]
        return [giver for name in dict.fromkeys(names) for giver in self._givers(name)]

    def _givers(self, symbol: str) -> list[str]:
        """The symbol, or where nobody may set it those that select it in the reference."""
        if self.tailored.get(symbol, "n") != "n":
            return []
        if self.can_be_put_back(symbol):
            return [symbol]
        return [
            definition.symbol
            for definition in self.definitions
            if any(selected == symbol for selected, _ in definition.selects)
            and self.reference.get(definition.symbol) == "y"
            and self.can_be_put_back(definition.symbol)
        ]

    def settled(self, chosen: Mapping[str, str], lost: Sequence[Requested]) -> dict[str, str]:
        """Other overrides instead of ones that Kbuild did not accept.

        What was put back and can't be is left out; what something put back forces on is let be;
        of what anybody else asks for, the dropped dependencies are put back.
        """
        better = dict(chosen)
        for wanted in lost:
            if wanted.symbol in chosen:
                del better[wanted.symbol]
            elif wanted.value == "n":
                better[wanted.symbol] = "y"
            else:
                needed = self.with_dependencies([wanted.symbol])
                better |= {symbol: "y" for symbol in needed if symbol != wanted.symbol}
        return better
