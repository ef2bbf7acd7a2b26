# SPDX-License-Identifier: GPL-2.0-or-later
"""`if (IS_ENABLED(CONFIG_X))` in code, which the compiler drops although the preprocessor kept it.

There is no C parser: this module blanks comments, strings and preprocessor lines, then matches
braces. Known inaccuracies: it does not read `?:`, `while` and `switch`, nor a line that a branch
shares with its condition. If an #if opens a brace twice, the branch ends too late.
"""

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

from kadence.kconfig.trace.condition import TRUE, Condition, both, negation, of_preprocessor

BLANKED = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
IF = re.compile(r"\bif\s*(?=\()")
HEAD = re.compile(r"\s*(if|for|while|switch)\s*(?=\()")
ELSE = re.compile(r"\s*else\b")
RETURN = re.compile(r"\s*(?:\{\s*)?return\b[^;]*;\s*\}?")
LABEL = re.compile(r"^\s*(?:\w+|case\b[^:?\n]*)\s*:(?!:)", re.MULTILINE)


@dataclass(frozen=True)
class Branch:
    """Lines that run only under a condition."""

    first: int
    last: int
    condition: Condition


def branches(text: str) -> list[Branch]:
    """Branches whose condition names a configuration symbol."""
    if "CONFIG_" not in text:
        return []
    code = BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    lines = _Lines(code)
    found: list[Branch] = []
    for match in IF.finditer(code):
        end = _closing(code, match.end())
        asked = code[match.end() : end]
        if "CONFIG_" in asked and (condition := of_preprocessor(asked)) != TRUE:
            found += _of_if(code, end, condition, lines)
    return [branch for branch in found if branch.first <= branch.last]


def around(found: list[Branch], line: int) -> Condition:
    """The conditions of all branches that contain a line."""
    inside = (branch.condition for branch in found if branch.first <= line <= branch.last)
    return reduce(both, inside, TRUE)


class _Lines:
    """Line numbers of positions in a text."""

    def __init__(self, text: str) -> None:
        self.breaks = [match.start() for match in re.finditer("\n", text)]

    def __getitem__(self, position: int) -> int:
        return bisect.bisect_left(self.breaks, position) + 1


def _of_if(code: str, head: int, condition: Condition, lines: _Lines) -> Iterator[Branch]:
    """The then and else branches, or the code after a return; the condition ends at `head`."""
    end = _statement_end(code, head)
    yield _branch(code, head, end, condition, lines)
    if match := ELSE.match(code, end):
        other = _statement_end(code, match.end())
        yield _branch(code, match.end(), other, negation(condition), lines)
    elif RETURN.fullmatch(code, head, end):
        yield Branch(lines[end] + 1, lines[_rest(code, end)] - 1, negation(condition))


def _branch(code: str, head: int, end: int, condition: Condition, lines: _Lines) -> Branch:
    """From the line after the head to the end, without the line of the closing brace."""
    braced = code[end - 1 : end] == "}"
    return Branch(lines[head - 1] + 1, lines[end - 1] - braced, condition)


def _statement_end(code: str, start: int) -> int:
    """The position after the statement at `start`, including all of its branches."""
    head = HEAD.match(code, start)
    if head is None:
        return _simple_end(code, start)
    end = _statement_end(code, _closing(code, head.end()))
    other = ELSE.match(code, end) if head[1] == "if" else None
    return _statement_end(code, other.end()) if other else end


def _simple_end(code: str, start: int) -> int:
    """The position after a block, or after a statement that ends with a semicolon."""
    position = start
    while position < len(code) and code[position] != ";":
        if code[position] not in "({":
            position += 1
            continue
        block = code[start : position + 1].strip() == "{"
        position = _closing(code, position)
        if block:
            return position
    return position + 1


def _closing(code: str, start: int) -> int:
    """The position after the parenthesis or brace that closes the one at `start`."""
    opening, depth = code[start], 0
    pattern = r"[()]" if opening == "(" else r"[{}]"
    for match in re.compile(pattern).finditer(code, start):
        depth += 1 if match[0] == opening else -1
        if depth == 0:
            return match.end()
    return len(code)


def _rest(code: str, start: int) -> int:
    """The end of the enclosing block, or the first label, to which other code can jump."""
    depth = 0
    end = len(code)
    for match in re.compile(r"[{}]").finditer(code, start):
        depth += 1 if match[0] == "{" else -1
        if depth < 0:
            end = match.start()
            break
    label = LABEL.search(code, start, end)
    return label.start() if label else end
