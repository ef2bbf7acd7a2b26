# SPDX-License-Identifier: GPL-2.0-or-later
"""The calls and sockets that a program asked for and a tailored kernel lacks, with their symbols.

They are read from the kernel log (patches/6.12/missing-call.patch); missing.toml has the symbols.
Known inaccuracy: the kernel logs each call once, so of two programs only the first is named.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).resolve().parent / "missing.toml"
# The symbol of the calls that make sockets, whatever their family.
SOCKETS = "NET"
LINE = re.compile(
    r"kadence: (?P<who>.*) (?:made system call (?P<call>\d+)|asked for socket family "
    r"(?P<family>\d+)), which this kernel lacks$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Missing:
    """One system call or socket family that a program asked for."""

    who: str
    what: str  # `io_uring_setup`, or `a socket of family 17`
    symbol: str | None  # that would give it; None if no table has one


def in_log(log: str) -> list[Missing]:
    """All that the kernel lacked, in the order of its log, without what libraries only try."""
    found = [_missing(match) for match in LINE.finditer(log.replace("\r", ""))]
    return [missing for missing in found if missing.what not in _table()["tried"]]


def symbols(missing: Sequence[Missing]) -> list[str]:
    """The symbols that would give all of it, each once."""
    return list(dict.fromkeys(one.symbol for one in missing if one.symbol is not None))


def companions(named: Sequence[str]) -> list[str]:
    """What is likely to be missing next: without sockets, no program got as far as a family."""
    return list(dict.fromkeys(_table()["families"].values())) if SOCKETS in named else []


def calls_of(symbol: str) -> set[str]:
    """Names of the system calls that a symbol gives."""
    return set(_table()["calls"].get(symbol, ()))


def families_of(symbol: str) -> set[int]:
    """Numbers of the socket families that a symbol gives."""
    return {int(family) for family, giver in _table()["families"].items() if giver == symbol}


def numbers() -> dict[str, int]:
    """The number of each system call that a configuration can give or leave out."""
    named = {name: number for number, (name, _) in _calls().items()}
    return named | {str(name): int(number) for name, number in _table()["forms"].items()}


def sentence(missing: Sequence[Missing]) -> str:
    """`p asked for mq_open, which this kernel lacks; CONFIG_POSIX_MQUEUE would give it`."""
    whats = list(dict.fromkeys(one.what for one in missing))
    asked = f"{missing[0].who} asked for {_joined(whats)}, which this kernel lacks"
    givers = [f"CONFIG_{symbol}" for symbol in symbols(missing)]
    if not givers:
        return f"{asked}; no symbol is known that would give it"
    return f"{asked}; {_joined(givers)} would give it"


def _joined(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _missing(match: "re.Match[str]") -> Missing:
    if match["family"] is not None:
        symbol = _table()["families"].get(match["family"])
        return Missing(match["who"], f"a socket of family {match['family']}", symbol)
    name, symbol = _calls().get(int(match["call"]), (f"system call {match['call']}", None))
    return Missing(match["who"], name, symbol)


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


@cache
def _calls() -> dict[int, tuple[str, str | None]]:
    """Number -> name and symbol."""
    return {
        number: (name, symbol)
        for symbol, calls in _table()["calls"].items()
        for name, number in calls.items()
    }
