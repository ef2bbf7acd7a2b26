# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a kernel tree's Kconfig files, only far enough to explain why a symbol was lost.

Kbuild itself decides every value, but its tools cannot say which dependency was unmet.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kadence.base.errors import BuildError

TYPES = ("bool", "tristate", "string", "hex", "int")
BLOCKS = {"menu": "endmenu", "choice": "endchoice", "if": "endif"}
# Does not match a macro's definition, such as `if-success = …`, which is no statement.
WORD = re.compile(r"\s*([A-Za-z_]+)(?![\w-])\s*(.*)")
CONDITION = re.compile(r'^((?:"(?:[^"\\]|\\.)*"|[^"])*?)\s+if\s+(.*)$')


@dataclass
class Definition:
    """One `config` entry of a symbol; a symbol may have several."""

    symbol: str
    place: str
    conditions: list[str] = field(default_factory=list)  # all of them must hold
    prompt: bool = False
    prompt_condition: str = ""
    ranges: list[str] = field(default_factory=list)
    selects: list[tuple[str, str]] = field(default_factory=list)  # symbol, condition
    choice: bool = False  # part of a choice, of which exactly one symbol is on


@dataclass
class _Block:
    """An open menu, choice or if: its conditions apply to all entries inside."""

    end: str
    conditions: list[str] = field(default_factory=list)


class _Reader:
    def __init__(self, tree: Path, variables: Mapping[str, str]) -> None:
        self.tree = tree
        self.variables = variables
        self.definitions: list[Definition] = []
        self.blocks: list[_Block] = []
        self.entry: Definition | None = None

    def read(self, relative: str) -> None:
        for number, line in _statements(self.tree / relative):
            match = WORD.match(line)
            if match:
                self._statement(match[1], match[2].strip(), f"{relative}:{number}")

    def _statement(self, word: str, rest: str, place: str) -> None:
        if word in {"source", "rsource", "osource"}:
            self._close()
            self._source(rest)
        elif word in {"config", "menuconfig"}:
            self._close()
            self.entry = Definition(rest.split(maxsplit=1)[0], place)
        elif word in BLOCKS and not (word == "if" and not rest):
            self._close()
            self.blocks.append(_Block(BLOCKS[word], [rest] if word == "if" else []))
        elif word in BLOCKS.values():
            self._close()
            if self.blocks:
                self.blocks.pop()
        elif word in {"comment", "mainmenu"}:
            self._close()
        else:
            self._attribute(word, rest)

    def _source(self, rest: str) -> None:
        name = re.sub(r"\$\(?(\w+)\)?", lambda m: self.variables.get(m[1], ""), rest.strip("\"'"))
        # Skip a path with an unknown variable; symbols defined there get no explanation.
        if (self.tree / name).is_file():
            self.read(name)

    def _attribute(self, word: str, rest: str) -> None:
        if word == "depends":
            condition = rest.removeprefix("on").strip()
            if self.entry is not None:
                self.entry.conditions.append(condition)
            elif self.blocks:
                self.blocks[-1].conditions.append(condition)
        elif self.entry is not None:
            self._entry_attribute(self.entry, word, rest)

    @staticmethod
    def _entry_attribute(entry: Definition, word: str, rest: str) -> None:
        text, condition = split_condition(rest)
        if (word in TYPES and text[:1] in {'"', "'"}) or word == "prompt":
            entry.prompt = True
            entry.prompt_condition = condition
        elif word == "range":
            entry.ranges.append(rest)
        elif word == "select":
            entry.selects.append((text, condition))

    def _close(self) -> None:
        """End the open entry: the next statement is not one of its attributes."""
        if self.entry is not None:
            outer = [c for block in self.blocks for c in block.conditions]
            self.entry.conditions = outer + self.entry.conditions
            self.entry.choice = any(block.end == "endchoice" for block in self.blocks)
            self.definitions.append(self.entry)
            self.entry = None

    def finish(self) -> list[Definition]:
        self._close()
        return self.definitions


def split_condition(text: str) -> tuple[str, str]:
    """`"prompt" if X` -> (`"prompt"`, `X`)."""
    match = CONDITION.match(text)
    return (match[1], match[2]) if match else (text, "")


def definitions(tree: Path, variables: Mapping[str, str]) -> list[Definition]:
    """All definitions of all symbols that the tree's top Kconfig file includes."""
    reader = _Reader(tree, variables)
    reader.read("Kconfig")
    return reader.finish()


def _statements(path: Path) -> Iterator[tuple[int, str]]:
    """Lines that are statements: continued lines are joined, help texts and comments skipped."""
    pending = ""
    for number, line in _without_help(_lines(path)):
        pending += line.rstrip("\\")
        if line.endswith("\\"):
            continue
        if pending.strip() and not pending.lstrip().startswith("#"):
            yield number, pending
        pending = ""


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise BuildError(f"{path} can't be read: {error.strerror}; is the source whole?") from error


def _without_help(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Skip help texts. Each ends at the first line that is indented less than its first line."""
    inside = False
    depth = 0
    for number, line in enumerate(lines, start=1):
        if inside:
            depth = depth or _indentation(line)
            if not line.strip() or (depth and _indentation(line) >= depth):
                continue
        inside = re.fullmatch(r"\s*(help|---help---)\s*", line) is not None
        depth = 0
        if not inside:
            yield number, line


def _indentation(line: str) -> int:
    expanded = line.expandtabs(8)
    return len(expanded) - len(expanded.lstrip()) if line.strip() else 0
