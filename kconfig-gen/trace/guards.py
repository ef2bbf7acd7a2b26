# SPDX-License-Identifier: GPL-2.0-or-later
"""The conditions around a source line: #if, #ifdef, #elif and #else, and branches of the code."""

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path

from kadence.kconfig.trace import branches
from kadence.kconfig.trace.condition import TRUE, Condition, both, negation, of_preprocessor

DIRECTIVE = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)")
COMMENT = re.compile(r"/\*.*?\*/|//.*")


@dataclass
class _Block:
    """An open #if: the branches before this line, and the branch that contains the line."""

    passed: list[Condition] = field(default_factory=list)
    current: Condition = TRUE

    def holds(self) -> Condition:
        """The condition of this branch, and the negations of the branches before it."""
        return reduce(both, map(negation, self.passed), self.current)


@dataclass
class _File:
    changes: list[tuple[int, Condition]]
    branches: list[branches.Branch]

    def around(self, line: int) -> Condition:
        latest = bisect.bisect_right(self.changes, line, key=lambda change: change[0])
        preprocessed = self.changes[latest - 1][1] if latest else TRUE
        return both(preprocessed, branches.around(self.branches, line))


class Guards:
    """Conditions around the lines of source files; reads each file once."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self._files: dict[str, _File] = {}

    def around(self, file: str, line: int) -> Condition:
        """The condition under which this line is compiled; TRUE if the file cannot be read."""
        if file not in self._files:
            self._files[file] = self._read(file)
        return self._files[file].around(line)

    def _read(self, file: str) -> _File:
        try:
            text = (self.tree / file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            text = ""
        return _File(list(changes(text.splitlines())), branches.branches(text))


def changes(lines: Sequence[str]) -> Iterator[tuple[int, Condition]]:
    """The line numbers at which the condition changes, each with the new condition."""
    open_blocks: list[_Block] = []
    for after, text in _statements(lines):
        match = DIRECTIVE.match(text)
        if match is None:
            continue
        _enter(open_blocks, match[1], COMMENT.sub(" ", match[2]))
        yield after, reduce(both, (block.holds() for block in open_blocks), TRUE)


def _statements(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Preprocessor lines, continued lines joined, each with the number of the next line."""
    number = 0
    while number < len(lines):
        text = lines[number]
        while text.endswith("\\") and number + 1 < len(lines):
            number += 1
            text = text[:-1] + " " + lines[number]
        number += 1
        if text.lstrip().startswith("#"):
            yield number + 1, text


def _enter(blocks: list[_Block], word: str, rest: str) -> None:
    if word in {"if", "ifdef", "ifndef"}:
        blocks.append(_Block(current=_condition(word, rest)))
    elif blocks and word == "endif":
        blocks.pop()
    elif blocks:
        blocks[-1].passed.append(blocks[-1].current)
        blocks[-1].current = _condition("if", rest) if word == "elif" else TRUE


def _condition(word: str, rest: str) -> Condition:
    if word == "if":
        return of_preprocessor(rest)
    defined = of_preprocessor(f"defined({rest.strip()})")
    return negation(defined) if word == "ifndef" else defined
