# SPDX-License-Identifier: GPL-2.0-or-later
"""Which #if, #ifdef, #elif and #else blocks a source line stands in.

Known inaccuracy: `if (IS_ENABLED(CONFIG_X))` in code guards, too, but only #if is read here.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kadence.kconfig.trace.condition import TRUE, Condition, of_preprocessor

DIRECTIVE = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)")
COMMENT = re.compile(r"/\*.*?\*/|//.*")


@dataclass
class _Block:
    """An open #if: the branches that were passed, and the one that the line is in."""

    passed: list[Condition] = field(default_factory=list)
    current: Condition = TRUE

    def holds(self) -> Condition:
        """This branch and none of those before it."""
        refused = [Condition("not", (branch,)) for branch in self.passed if branch != TRUE]
        parts = [*refused, self.current]
        return parts[0] if len(parts) == 1 else Condition("and", tuple(parts))


class Guards:
    """Conditions around the lines of source files, each file read once."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self._files: dict[str, list[tuple[int, Condition]]] = {}

    def around(self, file: str, line: int) -> Condition:
        """What had to hold for this line to be compiled; TRUE where the file can't be read."""
        if file not in self._files:
            self._files[file] = self._read(file)
        latest = TRUE
        for start, condition in self._files[file]:
            if start > line:
                break
            latest = condition
        return latest

    def _read(self, file: str) -> list[tuple[int, Condition]]:
        try:
            text = (self.tree / file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return []
        return list(changes(text.splitlines()))


def changes(lines: Sequence[str]) -> Iterator[tuple[int, Condition]]:
    """Line numbers from which on another condition holds."""
    open_blocks: list[_Block] = []
    for after, text in _statements(lines):
        match = DIRECTIVE.match(text)
        if match is None:
            continue
        _enter(open_blocks, match[1], COMMENT.sub(" ", match[2]))
        yield after, _together(open_blocks)


def _statements(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Preprocessor lines, continued ones joined, with the number of the line after."""
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
    if word == "ifndef" and defined != TRUE:
        return Condition("not", (defined,))
    return defined


def _together(blocks: Sequence[_Block]) -> Condition:
    parts = tuple(held for block in blocks if (held := block.holds()) != TRUE)
    if not parts:
        return TRUE
    return parts[0] if len(parts) == 1 else Condition("and", parts)
