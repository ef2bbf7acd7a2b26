# SPDX-License-Identifier: GPL-2.0-or-later
"""From symbols that guard code to symbols that a configuration can ask for.

A symbol without a prompt is on only through a symbol that selects it, or through its default if
its dependencies are met. Every symbol needs its dependencies.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from pathlib import Path

from kadence.kconfig.language.expression import evaluate
from kadence.kconfig.language.kconfig_files import Definition, definitions
from kadence.kconfig.trace.condition import of_kconfig


class Lift:
    """Holds the Kconfig files of a tree and the configuration of the kernel that ran."""

    def __init__(self, tree: Path, variables: Mapping[str, str], values: Mapping[str, str]) -> None:
        self.values = values
        self.on = frozenset(symbol for symbol, value in values.items() if value in {"y", "m"})
        self._own: dict[str, list[Definition]] = defaultdict(list)
        self._selectors: dict[str, list[str]] = defaultdict(list)
        for definition in definitions(tree, variables):
            self._own[definition.symbol].append(definition)
            for selected, condition in definition.selects:
                if definition.symbol in self.on and self._met(condition):
                    self._selectors[selected].append(definition.symbol)

    def _met(self, condition: str) -> bool:
        return not condition or evaluate(condition, self.values) > 0

    def offered(self, symbol: str) -> bool:
        """Whether a configuration can set the symbol (it has a visible prompt)."""
        return any(
            definition.prompt and self._met(definition.prompt_condition)
            for definition in self._own[symbol]
        )

    def choices(self, guards: Iterable[str]) -> dict[str, str]:
        """Symbols to ask for so that all guards are on, each with the guard that needs it."""
        chosen: dict[str, str] = {}
        pending = [(guard, guard) for guard in sorted(set(guards) & self.on)]
        seen: set[str] = set()
        while pending:
            symbol, guard = pending.pop(0)
            if symbol in seen:
                continue
            seen.add(symbol)
            if self.offered(symbol):
                chosen.setdefault(symbol, guard)
            pending += [
                (other, guard) for other in sorted(self._behind(symbol, set(chosen) | seen))
            ]
        return chosen

    def _behind(self, symbol: str, preferred: Set[str]) -> frozenset[str]:
        """Symbols that must be on for this one: its dependencies, or one that selects it."""
        needed = self._dependencies(symbol)
        if self.offered(symbol):
            return needed
        selectors = sorted(set(self._selectors[symbol]))
        if not selectors or set(selectors) & preferred:
            return needed
        return frozenset({selectors[0]})

    def _dependencies(self, symbol: str) -> frozenset[str]:
        met = [
            definition
            for definition in self._own[symbol]
            if all(self._met(condition) for condition in definition.conditions)
        ]
        return frozenset(
            needed
            for definition in met[:1]
            for condition in definition.conditions
            for needed in of_kconfig(condition).needs(self.on)
        )
