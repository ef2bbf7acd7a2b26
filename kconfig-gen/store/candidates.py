# SPDX-License-Identifier: GPL-2.0-or-later
"""Candidates for a repair: the symbols to put back into a tailored kernel, the best ones first.

Known inaccuracies: a number, or one of several choices, is no candidate. If either of two
symbols would meet a dependency, both are put back.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kadence.kconfig.configuration.rules import Requested
from kadence.kconfig.language.expression import evaluate, tokens
from kadence.kconfig.language.kconfig_files import Definition

# Folders whose symbols more often change what a program can notice.
CORE = ("init/", "kernel/", "mm/", "fs/", "ipc/", "net/", "arch/", "lib/")


@dataclass(frozen=True)
class Dropped:
    """The symbols that are on in a kernel that serves, and off in one that does not."""

    tailored: Mapping[str, str]  # final values; {} if there is no such configuration
    reference: Mapping[str, str]
    definitions: Sequence[Definition]

    @cached_property
    def _by_symbol(self) -> dict[str, list[Definition]]:
        found: dict[str, list[Definition]] = {}
        for definition in self.definitions:
            found.setdefault(definition.symbol, []).append(definition)
        return found

    def batches(self, traced: Sequence[str], refused: Sequence[str]) -> list[list[str]]:
        """Candidates that no failure names, in the order in which to try them.

        First symbols of which a trace saw code run, then symbols that rules refuse, then the rest:
        the core of the kernel before drivers.
        """
        # Sorted, because the order decides the result and must be the same on every machine.
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
        """Whether the symbol is off and a configuration may switch it on."""
        return self.tailored.get(symbol, "n") == "n" and any(
            definition.prompt and not definition.choice
            for definition in self._by_symbol.get(symbol, ())
        )

    def _is_core(self, symbol: str) -> bool:
        return any(d.place.startswith(CORE) for d in self._by_symbol.get(symbol, ()))

    def with_dependencies(self, symbols: Iterable[str]) -> list[str]:
        """The symbols, and the dropped symbols that they depend on."""
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
        """The symbol, or, if it has no prompt, the symbols that select it in the reference."""
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
        """Change overrides that Kbuild did not accept.

        A symbol that cannot be put back is left out. A symbol that another one forces on stays
        on. For a symbol that anybody else asks for, its dropped dependencies are put back.
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
