# SPDX-License-Identifier: GPL-2.0-or-later
"""Why a symbol of a stored kernel is on or off: what asks for it, selects it or prevents it.

Nothing is built: the answer comes from the manifest, the configuration and the Kconfig files.
Known inaccuracy: expression.py counts macros as true. So `default` means only that nobody asked
for the symbol and that nothing that is on selects it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import BuildError
from kadence.kconfig.configuration import configure
from kadence.kconfig.configuration.explain import unmet_dependencies
from kadence.kconfig.language.expression import evaluate
from kadence.kconfig.language.kconfig_files import Definition, definitions
from kadence.kconfig.request import targets
from kadence.kconfig.store.store import Kernel
from kadence.kconfig.tree import source
from kadence.kconfig.tree.source import Origin


class Why(Enum):
    """What decided a symbol's value."""

    REQUESTED = "asked for"
    SELECTED = "selected by what is on"
    DEFAULT = "on by Kconfig's own default"
    UNMET = "off, because a dependency is unmet"
    UNASKED = "off, because nobody asked for it"


@dataclass(frozen=True)
class Answer:
    """Why one symbol has its value."""

    symbol: str
    value: str
    why: Why
    sentence: str


@dataclass(frozen=True)
class Origins:
    """A stored kernel and the Kconfig files it was configured by."""

    kernel: Kernel
    definitions: Sequence[Definition]

    @cached_property
    def values(self) -> dict[str, str]:
        return configure.values(self.kernel.config)

    @cached_property
    def _by_symbol(self) -> dict[str, list[Definition]]:
        found: dict[str, list[Definition]] = {}
        for definition in self.definitions:
            found.setdefault(definition.symbol, []).append(definition)
        return found

    @cached_property
    def _selectors(self) -> dict[str, list[str]]:
        """Symbol -> the symbols that are on and select it."""
        found: dict[str, list[str]] = {}
        for definition in self.definitions:
            if self.values.get(definition.symbol, "n") == "n":
                continue
            for selected, condition in definition.selects:
                if not condition or evaluate(condition, self.values) > 0:
                    found.setdefault(selected, []).append(definition.symbol)
        return found

    def explain(self, symbol: str) -> Answer:
        """Why a symbol is on or off."""
        symbol = symbol.removeprefix("CONFIG_")
        requested = self.kernel.manifest["requested"]
        if symbol not in self._by_symbol and symbol not in requested:
            raise BuildError(
                f"this kernel's source has no symbol {symbol} for {self.kernel.target}; "
                "write it as in the Kconfig files"
            )
        value = self.values.get(symbol, "n")
        why, sentence = self._decided(symbol, value)
        return Answer(symbol, value, why, sentence)

    def _decided(self, symbol: str, value: str) -> tuple[Why, str]:
        manifest = self.kernel.manifest
        if manifest["requested"].get(symbol) == value:
            return Why.REQUESTED, f"{self.asker(symbol)}: {manifest['reasons'][symbol]}"
        selectors = sorted(set(self._selectors.get(symbol, ())))
        if value != "n" and selectors:
            return Why.SELECTED, f"selected by {', '.join(selectors)}"
        if value != "n":
            return Why.DEFAULT, "nobody asked for it; Kconfig's default has it"
        return self._off(symbol)

    def _off(self, symbol: str) -> tuple[Why, str]:
        own = self._by_symbol.get(symbol, ())
        unmet = unmet_dependencies(own, self.values)
        if unmet:
            sentence = f"unmet dependency: {' and '.join(unmet)}"
            return Why.UNMET, self._although_asked(symbol) + sentence
        if not any(definition.prompt for definition in own):
            return Why.UNASKED, "it has no prompt, and nothing that is on selects it"
        return Why.UNASKED, self._although_asked(symbol) + "nothing has switched it on"

    def _although_asked(self, symbol: str) -> str:
        """A clause for a symbol that a trace asks for and the target cannot have."""
        if symbol not in self.kernel.manifest.get("unavailable", ()):
            return ""
        return f"{self.asker(symbol)} asks for it ({self.kernel.manifest['reasons'][symbol]}), but "

    def asker(self, symbol: str) -> str:
        """The file that asked for the symbol."""
        return str(self.kernel.manifest.get("askers", {}).get(symbol, "asked for"))

    def all(self) -> list[Answer]:
        """An answer for every symbol that is on."""
        return [self.explain(symbol) for symbol in sorted(self.values) if self._is_on(symbol)]

    def _is_on(self, symbol: str) -> bool:
        known = symbol in self._by_symbol or symbol in self.kernel.manifest["requested"]
        return known and self.values[symbol] in {"y", "m"}


def of(kernel: Kernel) -> Origins:
    """Read the origins of a stored kernel, after unpacking its source if necessary."""
    manifest = kernel.manifest
    variables = targets.get(kernel.target).kconfig_variables
    origin = Origin(Path(manifest["source"]), manifest["series"], manifest["source_sha256"])
    log = resources.cache_directory() / "logs" / "source.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    tree = source.pristine(origin, log)
    driver = resources.home() / "kadapt/driver"
    return Origins(kernel, [*definitions(tree, variables), *definitions(driver, variables)])


def difference(first: Mapping[str, str], second: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Symbols whose values differ, with both values; a missing symbol counts as `n`."""
    names = sorted(first.keys() | second.keys())
    pairs = [(name, first.get(name, "n"), second.get(name, "n")) for name in names]
    return [(name, old, new) for name, old, new in pairs if old != new]
