# SPDX-License-Identifier: GPL-2.0-or-later
"""On this machine's own kernel the library's page faults and memory are bounded.

In these tests the programs do not behave as the plan expects, so the bounds take effect. Some
tests assume that no treatment pays on this machine, others that all do, and others run in a
process without huge pages.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from memory_programs import Outcome, Programs

from kadence.base.resources import built

MIB = 1 << 20
PAGE = 4096
# The bound on memory also bounds the page faults that make it present.
RESIDENT_MORE = 32 * MIB
STARTS = 200  # page faults of the library itself: its tables, and reading about the machine
PR_SET_THP_DISABLE = 41
WITHOUT_HUGE_PAGES = (
    sys.executable,
    "-c",
    "import ctypes, os, sys\n"
    f"ctypes.CDLL(None).prctl({PR_SET_THP_DISABLE}, 1, 0, 0, 0)\n"
    "os.execv(sys.argv[1], sys.argv[1:])",
)
EVERYTHING = ("populate", "keep", "huge", "map-ahead")


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    """A place to build programs in."""
    return Programs(tmp_path)


def figures(outcome: Outcome) -> tuple[int, int]:
    """Returns what the program printed: its peak of resident bytes, and its page faults."""
    kibibytes, faults = outcome.complaints.split()
    return int(kibibytes) * 1024, int(faults)


@pytest.mark.parametrize("before", [(), WITHOUT_HUGE_PAGES], ids=["", "no huge pages"])
@pytest.mark.parametrize("pays", ["none", "populate", "populate,huge"])
def test_blocks_that_are_not_touched_cost_next_to_nothing(
    programs: Programs, pays: str, before: tuple[str, ...]
) -> None:
    pair = programs.build("untouched_blocks.c", treatments=EVERYTHING, keep_bytes=RESIDENT_MORE)
    programs.remember(pays)
    resident, faults = figures(programs.run(pair.plain, before=before))
    now, again = figures(programs.run(pair.adapted, before=before))
    assert now <= resident * 1.05 + RESIDENT_MORE
    assert again <= faults * 1.05 + RESIDENT_MORE // PAGE + STARTS


@pytest.mark.parametrize("how", ["same", "random", "small"])
def test_blocks_that_are_not_kept_are_mallocs(programs: Programs, how: str) -> None:
    """malloc serves such blocks from its heap; an arena would fault their pages in again."""
    pair = programs.build("resident_bound.c", treatments=["populate", "huge"])
    plain, adapted = (programs.run(program, how) for program in (pair.plain, pair.adapted))
    assert adapted.memory == {}
    assert figures(adapted)[1] <= figures(plain)[1] + STARTS


@pytest.mark.parametrize("how", ["grow", "shrink", "realloc", "small"])
@pytest.mark.parametrize("keep_bytes", [3 * MIB, RESIDENT_MORE])
def test_sizes_that_the_plan_did_not_know(programs: Programs, how: str, keep_bytes: int) -> None:
    pair = programs.build("resident_bound.c", keep_bytes=keep_bytes)
    programs.remember("none")
    resident, faults = figures(programs.run(pair.plain, how))
    now, again = figures(programs.run(pair.adapted, how))
    assert now <= resident * 1.05 + RESIDENT_MORE
    assert again <= faults * 1.05 + RESIDENT_MORE // PAGE + STARTS


def test_only_pages_that_were_kept_for_long_are_idle(programs: Programs) -> None:
    pair = programs.build("idle_pages.c", treatments=["keep"])
    at_once, later, taken = map(int, programs.run(pair.adapted).output.split())
    assert at_once == 0
    assert later == 16 * 1024
    assert taken == 0


def test_malloc_learns_what_it_would_have_learned(programs: Programs) -> None:
    pair = programs.build("heap_learns.c", "untouched_by_plan.c", treatments=["keep"])
    assert programs.compare(pair).memory["blocks"] == 1
    assert programs.run(pair.adapted).output == "0\n"


# ---- what is remembered of the machine -----------------------------------------------------------


@pytest.fixture
def remembered(programs: Programs) -> Path:
    """The file which says that populating and huge pages pay on this machine."""
    return programs.remember("populate,huge")


def asked(programs: Programs, *words: str) -> dict[str, Any]:
    """Returns the remembered answer or, if there is none, measures."""
    command = [built("kadapt/measure-memory"), *words]
    completed = subprocess.run(
        command, env=os.environ | programs.cache, check=True, capture_output=True, text=True
    )
    answer: dict[str, Any] = json.loads(completed.stdout)
    return answer


def is_measured(answer: dict[str, Any]) -> bool:
    return "faults_ns" in answer


def test_a_measurement_is_made_once(programs: Programs, remembered: Path) -> None:
    assert asked(programs) == {
        "populate": True,
        "huge": True,
        "virtual": asked(programs)["virtual"],
    }
    assert is_measured(asked(programs, "--again"))
    assert not is_measured(asked(programs))
    assert remembered.stat().st_mode & 0o777 == 0o600


def _of_another_machine(path: Path) -> None:
    first, second = path.read_text().splitlines()
    path.write_text(f"{first}\n{second}0\n")


def _by_another_name(path: Path) -> None:
    moved = path.with_name("elsewhere")
    path.rename(moved)
    path.symlink_to(moved)


def _as_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


BROKEN: dict[str, Callable[[Path], None]] = {
    "of another machine": _of_another_machine,
    "open to a group": lambda path: path.chmod(0o620),
    "open to all": lambda path: path.chmod(0o602),
    "linked twice": lambda path: os.link(path, path.with_name("other")),
    "a symbolic link": _by_another_name,
    "a pipe": _as_a_pipe,
    "another user's": lambda path: os.chown(path, 65534, 65534),
    "empty": lambda path: path.write_text(""),
    "cut off": lambda path: path.write_text(path.read_text()[:60]),
    "binary": lambda path: path.write_bytes(os.urandom(4096)),
}


@pytest.mark.parametrize("how", BROKEN)
def test_what_is_not_to_be_trusted_is_not_believed(
    programs: Programs, remembered: Path, how: str
) -> None:
    BROKEN[how](remembered)
    assert is_measured(asked(programs))


def test_other_words_are_refused(programs: Programs) -> None:
    for word in "--assume=all", "more":
        command = [built("kadapt/measure-memory"), word]
        completed = subprocess.run(command, env=os.environ | programs.cache, capture_output=True)
        assert completed.returncode == 2
        assert completed.stderr.count(b"\n") == 1


def test_without_a_place_nothing_is_remembered(programs: Programs) -> None:
    """Without HOME and KADENCE_CACHE, measure-memory prints an error, and programs run."""
    bare = {"PATH": os.environ["PATH"]}
    completed = subprocess.run(
        [built("kadapt/measure-memory")], env=bare, capture_output=True, text=True
    )
    assert completed.returncode == 1
    assert "set HOME or KADENCE_CACHE" in completed.stderr
    pair = programs.build("resident_bound.c")
    plain = subprocess.run([pair.plain, "small"], env=bare, capture_output=True)
    adapted = subprocess.run([pair.adapted, "small"], env=bare, capture_output=True)
    assert (adapted.returncode, adapted.stdout) == (plain.returncode, plain.stdout)
