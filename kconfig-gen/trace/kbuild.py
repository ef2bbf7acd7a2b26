# SPDX-License-Identifier: GPL-2.0-or-later
"""The symbols by which Kbuild's makefiles guard a file (Documentation/kbuild/makefiles.rst).

`obj-$(CONFIG_X) += a.o` guards a.c, and `obj-$(CONFIG_Y) += dir/` guards all files below dir. A
composite object's parts are `name-objs`, `name-y` or `name-$(CONFIG_Z)`. This module does not
follow other uses of make's functions: such a file counts as unguarded there.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path, PurePosixPath

from kadence.kconfig.trace.condition import TRUE, Condition, both, either, negation

ASSIGNMENT = re.compile(r"\s*([\w.-]+(?:\$\([^=]*\))?[\w.-]*)\s*[:+?]?=\s*(.*)")
CONFIG = re.compile(r"CONFIG_(\w+)")
MAKE_VARIABLE = re.compile(r"\$\((\w+)\)")
IF = re.compile(r"\s*(ifdef|ifndef|ifeq|ifneq|else|endif)\b\s*(.*)")
OBJECTS = ("obj", "lib", "head", "core", "libs", "drivers", "net", "virt")


@dataclass(frozen=True)
class Entry:
    """One word of one assignment: `owner` is obj, lib, or a composite object's name."""

    owner: str
    item: str
    condition: Condition


class Kbuild:
    """Conditions on source files from the makefiles above them; reads each makefile once."""

    def __init__(self, tree: Path, variables: Mapping[str, str]) -> None:
        self.tree = tree
        self.variables = variables
        self._entries: dict[PurePosixPath, list[Entry]] = {}
        self._above: dict[PurePosixPath, Condition] = {}

    def above(self, file: str) -> Condition:
        """The condition under which this file is compiled."""
        path = PurePosixPath(file)
        own = self._of_object(path.parent, path.stem + ".o", seen=frozenset())
        return both(own, self._of_folder(path.parent))

    def _of_object(
        self, folder: PurePosixPath, name: str, seen: frozenset[str], within: str = ""
    ) -> Condition:
        """An object may be listed in its own folder's makefile or, with a path, in a parent's."""
        item = within + name
        conditions = []
        for entry in self._read(folder):
            if entry.item != item or entry.owner in seen:
                continue
            above = TRUE
            if entry.owner not in OBJECTS:
                above = self._of_object(folder, f"{entry.owner}.o", seen | {entry.owner})
            conditions.append(both(entry.condition, above))
        if not conditions and not within and folder.parent != folder:
            return self._of_object(folder.parent, name, seen, f"{folder.name}/")
        return either(conditions)

    def _of_folder(self, folder: PurePosixPath) -> Condition:
        """The condition of the chain of folders down to this one; some makefiles skip a level."""
        if folder == folder.parent:
            return TRUE
        if folder not in self._above:
            self._above[folder] = self._find_folder(folder)
        return self._above[folder]

    def _find_folder(self, folder: PurePosixPath) -> Condition:
        for parent in folder.parents:
            wanted = f"{folder.relative_to(parent)}/"
            found = [entry.condition for entry in self._read(parent) if entry.item == wanted]
            if found:
                return both(either(found), self._of_folder(parent))
        return self._of_folder(folder.parent)

    def _read(self, folder: PurePosixPath) -> list[Entry]:
        if folder not in self._entries:
            self._entries[folder] = list(self._parse(self._text(folder)))
        return self._entries[folder]

    def _text(self, folder: PurePosixPath) -> str:
        for name in ("Kbuild", "Makefile"):
            try:
                return (self.tree / folder / name).read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
        return ""

    def _parse(self, text: str) -> Iterator[Entry]:
        blocks: list[Condition] = []
        for line in text.replace("\\\n", " ").splitlines():
            bare = line.partition("#")[0]
            if match := IF.match(bare):
                _enter(blocks, match[1], match[2])
            elif match := ASSIGNMENT.match(bare):
                around = reduce(both, blocks, TRUE)
                yield from self._items(match[1], match[2], around)

    def _items(self, name: str, words: str, around: Condition) -> Iterator[Entry]:
        owner, _, suffix = name.partition("-")
        if name.endswith("-objs"):
            owner, suffix = name.removesuffix("-objs"), "y"
        elif owner not in OBJECTS:
            owner, _, suffix = re.sub(r"\$\(.*", "@", name).rpartition("-")
            suffix = name[len(owner) + 1 :]
        condition = both(around, _of_suffix(suffix))
        for word in MAKE_VARIABLE.sub(lambda m: self.variables.get(m[1], m[0]), words).split():
            yield Entry(owner, word.removeprefix("$(obj)/"), condition)


def _of_suffix(suffix: str) -> Condition:
    """A suffix's condition: y and m set none; of several symbols in a function, one is enough."""
    return either([Condition("symbol", symbol=name) for name in CONFIG.findall(suffix)])


def _enter(blocks: list[Condition], word: str, rest: str) -> None:
    if word == "endif":
        if blocks:
            blocks.pop()
    elif word == "else":
        if blocks:
            blocks[-1] = negation(blocks[-1])
    else:
        blocks.append(_of_test(word, rest))


def _of_test(word: str, rest: str) -> Condition:
    """ifeq ($(CONFIG_X),y), ifneq ($(CONFIG_X),), ifdef CONFIG_X and their opposites."""
    names = CONFIG.findall(rest)
    if len(names) != 1:
        return TRUE
    condition = Condition("symbol", symbol=names[0])
    empty = re.search(r",\s*\)\s*$|''\s*$", rest) is not None or re.search(r",\s*n\s*\)", rest)
    negative = word == "ifndef" or (word == "ifeq") == bool(empty) and word != "ifdef"
    return negation(condition) if negative else condition
