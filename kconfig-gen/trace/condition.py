# SPDX-License-Identifier: GPL-2.0-or-later
"""Conditions on configuration symbols, as the preprocessor and as Kconfig write them.

They answer one question: given the outcome of this condition, which symbols had to be on?
"""

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

# Spellings of "CONFIG_X is on" (include/linux/kconfig.h); a module counts as on.
PREPROCESSOR = re.compile(
    r"(?:IS_ENABLED|IS_BUILTIN|IS_MODULE|IS_REACHABLE)\s*\(\s*CONFIG_(\w+)\s*\)"
    r"|defined\s*\(\s*CONFIG_(\w+)\s*\)|defined\s+CONFIG_(\w+)|\bCONFIG_(\w+)\b"
)
TOKEN = re.compile(r"\s*(&&|\|\||!(?!=)|\(|\)|[^\s&|()!]+|.)")


@dataclass(frozen=True)
class Condition:
    """A node: `and`, `or`, `not`, `symbol` (with its name), or `opaque` (unknown)."""

    kind: str
    parts: tuple["Condition", ...] = ()
    symbol: str = ""

    def holds(self, on: Set[str], outcome: bool = True) -> bool:
        """Whether the condition can have this outcome if these symbols are on."""
        if self.kind == "opaque":
            return True
        if self.kind == "symbol":
            return (self.symbol in on) == outcome
        if self.kind == "not":
            return self.parts[0].holds(on, not outcome)
        values = [part.holds(on, outcome) for part in self.parts]
        return all(values) if (self.kind == "and") == outcome else any(values)

    def needs(self, on: Set[str], outcome: bool = True) -> frozenset[str]:
        """Symbols that must stay on for this outcome; empty if the present outcome differs."""
        if self.kind == "symbol":
            return frozenset({self.symbol}) if outcome else frozenset()
        if self.kind == "not":
            return self.parts[0].needs(on, not outcome)
        # All parts decide a true conjunction or a false disjunction; else any one part does.
        if (self.kind == "and") == outcome:
            return frozenset().union(*(part.needs(on, outcome) for part in self.parts))
        deciding = [part.needs(on, outcome) for part in self.parts if part.holds(on, outcome)]
        return min(deciding, key=lambda needed: (len(needed), sorted(needed)), default=frozenset())


TRUE = Condition("opaque")


def negation(condition: Condition) -> Condition:
    """The opposite condition; an opaque one stays opaque."""
    return condition if condition == TRUE else Condition("not", (condition,))


def both(first: Condition, second: Condition) -> Condition:
    """The conjunction, without parts that are TRUE."""
    parts = tuple(part for part in (first, second) if part != TRUE)
    if not parts:
        return TRUE
    return parts[0] if len(parts) == 1 else Condition("and", parts)


def either(conditions: Sequence[Condition]) -> Condition:
    """The disjunction; TRUE if a part is TRUE or there is no part."""
    if not conditions or TRUE in conditions:
        return TRUE
    return conditions[0] if len(conditions) == 1 else Condition("or", tuple(conditions))


def of_preprocessor(text: str) -> Condition:
    """The condition of an #if; operands that are no configuration symbols are opaque."""
    marked = PREPROCESSOR.sub(lambda m: f" @{next(filter(None, m.groups()))} ", text)
    return _Parser(marked, _marked_symbol).parse()


def of_kconfig(text: str) -> Condition:
    """The condition of a `depends on` or an `if`; a comparison with n is a negation."""
    text = re.sub(r"\$\([^()]*(?:\([^()]*\)[^()]*)*\)", " ? ", text)
    text = re.sub(r"(\w+)\s*(?:!=\s*n|=\s*[ym])\b", r"\1", text)
    text = re.sub(r"(\w+)\s*(?:=\s*n|!=\s*[ym])\b", r"!\1", text)
    text = re.sub(r"\S+\s*(?:[<>]=?|!?=)\s*\S+", " ? ", text)
    return _Parser(text, _bare_symbol).parse()


def _marked_symbol(word: str) -> Condition:
    return Condition("symbol", symbol=word[1:]) if word.startswith("@") else TRUE


def _bare_symbol(word: str) -> Condition:
    return Condition("symbol", symbol=word) if re.fullmatch(r"[A-Z0-9_]\w*", word) else TRUE


class _Parser:
    """Recursive descent over ||, && and !; words without an operator between are one operand."""

    def __init__(self, text: str, operand: Callable[[str], Condition]) -> None:
        self.rest = [token for token in TOKEN.findall(text) if token.strip()]
        self.operand = operand

    def parse(self) -> Condition:
        return self._joined("or", "||", lambda: self._joined("and", "&&", self._negation))

    def _joined(self, kind: str, operator: str, part: Callable[[], Condition]) -> Condition:
        parts = [part()]
        while self.rest and self.rest[0] == operator:
            self.rest.pop(0)
            parts.append(part())
        return parts[0] if len(parts) == 1 else Condition(kind, tuple(parts))

    def _negation(self) -> Condition:
        if self.rest and self.rest[0] == "!":
            self.rest.pop(0)
            return negation(self._negation())
        return self._operand()

    def _operand(self) -> Condition:
        operands = []
        while self.rest and self.rest[0] not in {"&&", "||", ")"}:
            token = self.rest.pop(0)
            if token == "(":
                operands.append(self.parse())
                if self.rest:
                    self.rest.pop(0)
            else:
                operands.append(self.operand(token))
        return operands[0] if len(operands) == 1 else TRUE
