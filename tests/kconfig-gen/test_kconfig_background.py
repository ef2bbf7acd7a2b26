# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel built beside other work: its failures, and its end with the process it is for."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kadence.base.errors import BuildError
from kadence.kconfig.store import background, store
from kadence.kconfig.store import build as building
from kadence.kconfig.store.build import BuildRequest

# Begins a build and then waits, as `kadence specialize` does while a profile takes long.
BEGIN = """
import sys, threading, time
from pathlib import Path
from kadence.kconfig.store import background
from kadence.kconfig.request.request import BuildRequest
# Threads, as libraries start them: such a process dies thread by thread.
for _ in range(4):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
with background.building(BuildRequest(source=Path(sys.argv[1]))):
    time.sleep(600)
"""
# Seconds to sleep; no other process on this machine sleeps for exactly as long.
HANG = "86399.123"


def kept() -> list[Path]:
    """Kernels in the store, complete or not, and build folders."""
    kernels = [path for path in store.folder().glob("*") if not path.name.endswith(".lock")]
    return kernels + list(building.remains_of())


def wait_for(what: Callable[[], object]) -> bool:
    """Whether the condition comes true within ten minutes, which a busy machine may take."""
    for _ in range(12000):
        if what():
            return True
        time.sleep(0.05)
    return False


def hanging() -> list[str]:
    """The processes of a toy's hanging build."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if command.read_bytes().split(b"\0")[:2] == [b"sleep", HANG.encode()]:
                found.append(command.parent.name)
        except OSError:
            continue
    return found


def test_it_builds_the_kernel_at_low_priority(toy: Any, tmp_path: Path) -> None:
    niceness = tmp_path / "nice"
    toy.behave(f"nice >{niceness}.new && mv {niceness}.new {niceness}")
    with background.building(BuildRequest(source=toy.tree)) as generic:
        assert wait_for(niceness.exists)  # before kernel(), which raises the priority
        kernel = generic.kernel()
    assert store.find(kernel.id) == kernel
    assert int(niceness.read_text()) == os.nice(0) + background.NICENESS


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may raise a priority")
def test_it_hurries_once_it_is_waited_for(toy: Any) -> None:
    toy.behave(f'until [ "$(nice)" = {os.nice(0)} ]; do sleep 0.1; done')
    with background.building(BuildRequest(source=toy.tree)) as generic:
        assert wait_for(toy.times_built)
        assert generic.kernel().kind == "generic"


def test_what_is_there_is_not_built(toy: Any) -> None:
    request = BuildRequest(source=toy.tree)
    there = building.build(request)
    with background.building(request) as generic:
        assert generic.kernel() == there
    assert toy.times_built() == 1


def test_who_needs_the_same_kernel_meanwhile_waits(toy: Any) -> None:
    toy.behave("sleep 1")
    request = BuildRequest(source=toy.tree)
    with background.building(request) as generic:
        assert wait_for(toy.times_built)
        assert building.build(request) == generic.kernel()
    assert toy.times_built() == 1


def test_a_failure_is_told_once_by_who_needs_the_kernel(
    toy: Any, toy_failures: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    toy.behave(toy_failures["error"])
    with background.building(BuildRequest(source=toy.tree)) as generic:
        assert wait_for(toy.times_built)
        with pytest.raises(BuildError, match="toy.c:1:1: error: toys break; the log is"):
            generic.kernel()
    assert capfd.readouterr().err == ""
    assert toy.times_built() == 1
    assert kept() == []


def test_a_build_that_was_killed_is_done_again(toy: Any) -> None:
    toy.behave(f'[ "$(wc -l <{toy.built})" -gt 1 ] || exec sleep {HANG}')
    with background.building(BuildRequest(source=toy.tree)) as generic:
        assert wait_for(hanging)
        generic._process.kill()  # type: ignore[union-attr]
        kernel = generic.kernel()
    assert kept() == [kernel.path]
    assert wait_for(lambda: not hanging())


def test_an_exception_ends_the_build(toy: Any) -> None:
    toy.behave(f"exec sleep {HANG}")
    with pytest.raises(KeyboardInterrupt), background.building(BuildRequest(source=toy.tree)):
        assert wait_for(hanging)
        raise KeyboardInterrupt
    assert hanging() == []
    assert kept() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_it_ends_with_who_began_it(toy: Any, number: signal.Signals) -> None:
    _begin_and_end(toy, [], number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_ends_so_even_where_interrupts_are_ignored(toy: Any, number: signal.Signals) -> None:
    _begin_and_end(toy, ["sh", "-c", 'trap "" INT; exec "$@"', "sh"], number)


def _begin_and_end(toy: Any, through: list[str], number: signal.Signals) -> None:
    toy.behave(f"exec sleep {HANG}")
    begun = subprocess.Popen([*through, sys.executable, "-c", BEGIN, toy.tree])
    assert wait_for(hanging)
    begun.send_signal(number)
    begun.wait()
    assert wait_for(lambda: not hanging())
    assert wait_for(lambda: kept() == [])
