# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence plan --explain` and `--predict`, on a program that is known by construction."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from known import NAP_SECONDS, NAPS, PAGES, SOURCE, Known

from kadence import cli
from kadence.base import artefact
from kadence.phases import planning
from kadence.phases.artefact import document
from kadence.specialize import explaining


@pytest.fixture
def plan(known: Known, kadence: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Run `kadence plan` on the profiled program."""

    def run(*words: object, **options: Any) -> Any:
        return kadence("plan", known.phases, "-o", tmp_path / "plan.json", *words, **options)

    return run


def test_the_plan_begins_with_the_measured_ceiling(plan: Callable[..., Any], known: Known) -> None:
    said = plan("--explain", "--predict", "--", known.program)
    assert said.returncode == 0, said.stderr
    first, header, *rest = said.stdout.splitlines()
    assert first.startswith("ceiling: at most ") and "can be gained by any adaptation" in first
    assert header.split() == ["of", "the", "run", "faults", "calls", "switches", "waiting"]
    assert any(line.startswith("error: the profile and this machine's prices") for line in rest)
    taken = rest[rest.index("what would take it, the most first:") + 1 :]
    assert taken[0].startswith("  1. ")
    # The last part is the prediction.
    begin = rest.index(f"predicted for `{known.program}`:")
    assert "this machine's own kernel" in rest[begin + 1]
    assert f"{PAGES:,}"[:3] in next(line for line in rest[begin:] if "page faults" in line)


def test_without_a_command_nothing_is_run(plan: Callable[..., Any]) -> None:
    said = plan("--explain")
    assert said.returncode == 0, said.stderr
    assert "no run of it was measured" in said.stdout.splitlines()[0]


def test_a_command_that_fails_leaves_the_plan(
    plan: Callable[..., Any], refused: Callable[..., str], tmp_path: Path
) -> None:
    for words, complaint in (
        (["false"], "`false` ended with status 1 when it was measured"),
        (["./missing"], "cannot run ./missing"),
    ):
        said = plan("--explain", "--", *words)
        assert complaint in refused(said)
        assert said.stdout.startswith("phase 0: ")
        artefact.read(tmp_path / "plan.json", artefact.PLAN)


def test_another_command_is_noted(plan: Callable[..., Any]) -> None:
    assert (
        "note: the measured command is not the profiled one"
        in plan("--explain", "--", "true").stdout
    )


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--", "true"], "are for --explain and --predict"),
        (["--runs", "3"], "are for --explain and --predict"),
        (["--predict", "--flags", "."], "--flags is for --explain"),
        (["--explain", "--"], "there is no command after `--`"),
        (["--explain", "--runs", "0", "--", "true"], "0 runs measure nothing"),
        (["--explain", "--flags", "/nowhere"], "no kadence.toml"),
        (["--explain", "true"], "unrecognized arguments"),
    ],
)
def test_wrong_options_are_refused(
    words: list[str],
    complaint: str,
    known: Known,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    begin = ["plan", str(known.phases), "-o", str(tmp_path / "plan.json")]
    assert cli.main([*begin, *words]) == 1
    said = capsys.readouterr().err
    assert complaint in said and len(said.splitlines()) == 1


def test_a_pipe_is_read_once(
    known: Known, kadence: Callable[..., Any], refused: Callable[..., str], tmp_path: Path
) -> None:
    words = ["plan", known.phases, "-o", tmp_path / "plan.json", "--explain", "--runs"]
    said = kadence(*words, "2", "--", "cat", input="once")
    assert "a pipe can be read only once" in refused(said)
    assert kadence(*words, "1", "--", "cat", input="once").returncode == 0


def test_explaining_changes_nothing_in_the_plan(known: Known) -> None:
    of = document.load(known.phases)
    body = planning.plan(of, planning.Options())
    explaining.explain(of, body, of.program, [])
    assert body == planning.plan(of, planning.Options())


def test_the_ceiling_of_a_real_run_is_measured(known: Known) -> None:
    """It sleeps 0.3 s, and the kernel serves its calls and faults."""
    of, command = document.load(known.phases), [str(known.program)]
    runs = explaining.run_here(command, 1)
    found = explaining.explain(of, None, command, runs).found
    assert found.run.waited >= 0.97 * NAPS * NAP_SECONDS
    assert max(row.waiting for row in found.rows) >= 0.8 * found.run.waited
    assert found.run.minor_faults >= PAGES
    assert found.run.voluntary_switches >= NAPS
    assert found.run.most.low <= found.run.most.value <= found.run.most.high


TOML = """
[program]
name = "known"
[build]
command = "$CC -o known known.c {sizes}"
flags = {flags}
[run]
command = ["./known"]
[check]
command = ["./known"]
"""


def described(folder: Path, flags: str) -> Path:
    """A folder in which the program naps 3 times, and touches two pages."""
    folder.mkdir()
    sizes = "-D_GNU_SOURCE -DCALLS=1 -DPAGES=2 -DNAPS=3"
    (folder / "kadence.toml").write_text(TOML.format(sizes=sizes, flags=flags))
    shutil.copy(SOURCE, folder)
    return folder


def test_flags_are_measured_beside_the_ceiling(plan: Callable[..., Any], tmp_path: Path) -> None:
    folder = described(tmp_path / "p", '["-DUNUSED"]')
    said = plan("--explain", "--flags", folder, cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert "flags -DUNUSED: 1 more builds" in said.stderr
    assert said.stdout.startswith("ceiling: at most ")
    assert "\nflags: -DUNUSED changes nothing in the program\n" in said.stdout
    assert (tmp_path / "known.kadence/known.flags.json").is_file()
    assert "flags: unchanged" in plan("--explain", "--flags", folder, cwd=tmp_path).stderr


def test_a_description_without_flags_is_refused(
    plan: Callable[..., Any], refused: Callable[..., str], tmp_path: Path
) -> None:
    said = plan("--explain", "--flags", described(tmp_path / "p", "[]"), cwd=tmp_path)
    assert "names no flags of the compiler" in refused(said)


def test_other_work_is_noted_for_programs_whose_delay_is_not_known(
    known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = document.load(known.phases)
    monkeypatch.setattr(explaining.Neighbours, "share", lambda _: 0.5)
    assert explaining.watched(list, of) == ([], [])
    two = replace(of, concurrency=replace(of.concurrency, threads=2))
    assert "other work took 50.0 %" in explaining.watched(list, two)[1][0]


def test_what_the_manual_shows_works(root: Path, tmp_path: Path) -> None:
    """The first block of docs/ceiling.md."""
    shown = re.search(r"```sh\n(.*?)```", (root / "docs/ceiling.md").read_text(), re.DOTALL)
    assert shown
    path = f"{root}/.venv/bin:{root}/build/bin:{os.environ['PATH']}"
    shutil.copy(root / "examples/heat/heat.c", tmp_path)
    build = "kadence-cc -O2 -o heat heat.c -lm\n"
    completed = subprocess.run(
        ["sh", "-euc", build + shown.group(1)],
        stdin=subprocess.DEVNULL,
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        text=True,
        capture_output=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout.count("\nceiling: at most ") == 2
    # The checkpoint's writes are what its kernel does most for.
    assert completed.stdout.count("  1. ") == 2
    first = next(line for line in completed.stdout.splitlines() if line.startswith("  1. "))
    assert "writes to files" in first
