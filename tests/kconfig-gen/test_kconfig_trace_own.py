# SPDX-License-Identifier: GPL-2.0-or-later
"""Tells a program's own needs from what fork, exit and the machine run for every program."""

import pytest

from kadence.kconfig.configuration.own import own
from kadence.kconfig.trace.observed import Observed
from kadence.kconfig.trace.symbols import Symbol


def ran(symbol: str, calls: tuple[str, ...] = (), families: tuple[int, ...] = ()) -> str:
    """Whether own() keeps a symbol as the program's, on a machine that needs PCI."""
    observed = Observed(list(calls), list(families), file_systems=[], paths=[])
    found = own([Symbol(symbol, "program", "fs/some.c:7", 5)], observed, {"PCI"})
    return found[0].ran


@pytest.mark.parametrize(
    ("symbol", "calls", "families", "expected"),
    [
        ("USERFAULTFD", ["mmap", "munmap"], [], "any"),  # dup_userfaultfd() is in every fork
        ("USERFAULTFD", ["mmap", "userfaultfd"], [], "program"),
        ("SYSVIPC", ["exit_group"], [], "any"),  # exit_sem() is in every exit
        ("SYSVIPC", ["semop"], [], "program"),
        ("IPV6", ["socket"], [2], "any"),
        ("IPV6", ["socket"], [2, 10], "program"),
        ("NET", ["socket"], [2], "program"),  # by its calls, though no netlink socket was made
        ("PCI", ["write"], [], "any"),
        ("TRANSPARENT_HUGEPAGE", [], [], "program"),  # no call belongs to it
    ],
)
def test_who_asked(symbol: str, calls: list[str], families: list[int], expected: str) -> None:
    assert ran(symbol, tuple(calls), tuple(families)) == expected


def test_what_nobody_asked_for_comes_last() -> None:
    observed = Observed(["read"], [], file_systems=[], paths=[])
    found = [Symbol(name, "program", "fs/some.c:7", 5) for name in ("AIO", "PROC_KCORE")]
    found += [Symbol("VT", "any", "drivers/tty/vt/vt.c:7", 5)]
    assert [one.symbol for one in own(found, observed, set())] == ["PROC_KCORE", "AIO", "VT"]
