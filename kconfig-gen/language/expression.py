# SPDX-License-Identifier: GPL-2.0-or-later
"""Kconfig's dependency expressions, evaluated against a finished configuration.

Known inaccuracy: a macro call such as $(cc-option,...) counts as true, because only Kbuild
can run it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

TOKEN = re.compile(
    r"""\s*(?: (?P<macro>\$\((?:[^()]|\([^()]*\))*\))
             | (?P<string>"[^"]*"|'[^']*')
             | (?P<operator>&&|\|\||!=|<=|>=|[!=<>()])
             | (?P<name>[A-Za-z0-9_./-]+) )""",
    re.VERBOSE,
)
LEVELS = {"n": 0, "m": 1, "y": 2}
COMPARISONS = {"=", "!=", "<", ">", "<=", ">="}


@dataclass(frozen=True)
class Token:
    kind: str
    text: str


def tokens(expression: str) -> list[Token]:
    """Split an expression; it ends at the first text that is no token, such as a comment."""
    found = []
    position = 0
    while match := TOKEN.match(expression, position):
        kind = str(match.lastgroup)
        found.append(Token(kind, match.group(kind)))
        position = match.end()
    return found


def unmet_parts(expression: str, values: Mapping[str, str]) -> list[str]:
    """The parts joined by && at the top level that evaluate to n."""
    return [part for part in conjuncts(expression) if evaluate(part, values) == 0]


def conjuncts(expression: str) -> list[str]:
    """The parts joined by && outside parentheses (one part if || is outside them)."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens(expression):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if token.text == "||" and depth == 0:
            return [expression.strip()]
        if token.text == "&&" and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token.text)
    return [_joined(part) for part in parts if part]


def _joined(words: list[str]) -> str:
    return re.sub(r"! (?!=)", "!", " ".join(words)).replace("( ", "(").replace(" )", ")")


def evaluate(expression: str, values: Mapping[str, str]) -> int:
    """0, 1 or 2 for n, m or y; a symbol without a value is n."""
    return _Evaluator(tokens(expression), values).disjunction()


class _Evaluator:
    """Recursive descent over ||, &&, ! and comparisons, in Kconfig's order of precedence."""

    def __init__(self, found: list[Token], values: Mapping[str, str]) -> None:
        self.rest = found
        self.values = values

    def disjunction(self) -> int:
        level = self.conjunction()
        while self._accept("||"):
            level = max(level, self.conjunction())
        return level

    def conjunction(self) -> int:
        level = self.negation()
        while self._accept("&&"):
            level = min(level, self.negation())
        return level

    def negation(self) -> int:
        if self._accept("!"):
            return 2 - self.negation()
        if self._accept("("):
            level = self.disjunction()
            self._accept(")")
            return level
        return self._comparison()

    def _comparison(self) -> int:
        if not self.rest:
            return 0
        left = self.rest.pop(0)
        if self.rest and self.rest[0].text in COMPARISONS:
            operator = self.rest.pop(0).text
            right = self.rest.pop(0) if self.rest else left
            return 2 * _compare(self._value(left), operator, self._value(right))
        if left.kind == "macro":
            return 2
        return LEVELS.get(self._value(left), 0)

    def _value(self, token: Token) -> str:
        if token.kind == "string":
            return token.text[1:-1]
        if token.text in LEVELS or re.fullmatch(r"-?[0-9]+|0x[0-9a-fA-F]+", token.text):
            return token.text
        return self.values.get(token.text, "n" if token.kind == "name" else "y")

    def _accept(self, text: str) -> bool:
        if self.rest and self.rest[0].text == text:
            self.rest.pop(0)
            return True
        return False


def _compare(left: str, operator: str, right: str) -> bool:
    if operator in {"=", "!="}:
        return (left == right) == (operator == "=")
    try:
        difference = int(left, 0) - int(right, 0)
    except ValueError:
        difference = (left > right) - (left < right)
    outcomes = {"<": difference < 0, ">": difference > 0}
    outcomes |= {"<=": difference <= 0, ">=": difference >= 0}
    return outcomes[operator]
