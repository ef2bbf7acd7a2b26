# SPDX-License-Identifier: GPL-2.0-or-later
"""The corpus: its quickest programs from source to report, and what its table says."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.corpus import corpus, corpus_lab, corpus_moved, corpus_run, corpus_table, corpus_verdict
from bench.corpus.corpus_run import Limits, Result
from kadence.program import program
from kadence.program.places import Places

# A step may take seconds to start on a busy machine; a hanging step lasts an hour unless ended.
SOON = 45.0
HANGS = 3600
# Each program takes two to four minutes, so `make test` runs one of them.
IN_CI, *FULL = corpus.QUICKEST

Make = Callable[[str], Path]

TOML = """
[program]
name = "toy"
[build]
command = '''{build}'''
[run]
command = ["./toy"]
[check]
command = ["./toy"]
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Make a corpus of one program with this build command; returns its working folder."""

    def make(build: str) -> Path:
        folder = tmp_path / "programs" / "toy"
        folder.mkdir(parents=True)
        (folder / "kadence.toml").write_text(TOML.format(build=build))
        monkeypatch.setattr(corpus_run, "corpus", lambda: folder.parent)
        return tmp_path / "out"

    return make


def estimate(value: float, low: float, high: float) -> dict[str, Any]:
    return {"value": value, "low": low, "high": high}


def own(adapted: dict[str, Any], again: dict[str, Any]) -> dict[str, Any]:
    medians = {"seconds": 1.0, "minor_faults": 10.0, "max_resident_bytes": 2.0**20}
    modes = {"plain": medians, "again": medians, "adapted": medians}
    found = {"adapted": adapted, "again": again, "medians": modes}
    return found | {"differing": [], "others": 0.5}


def test_every_folder_is_a_program_of_its_name_and_fetches_by_package(root: Path) -> None:
    names = corpus.programs()
    assert len(names) >= 24
    assert set(corpus.QUICKEST) <= set(names)
    for name in names:
        described = program.read(root / "bench/corpus" / name)
        assert described.name == name
        assert '"$KADENCE_FOLDER/../fetch" ' in described.prepare
        assert {path.name for path in described.folder.iterdir()} <= {"kadence.toml", "inputs.py"}


def test_a_program_is_slower_only_beyond_what_it_seems_to_lose_against_itself() -> None:
    level = estimate(1.0, 0.97, 1.04)
    assert corpus_verdict.slower(own(estimate(1.10, 1.05, 1.15), level))
    assert not corpus_verdict.slower(own(estimate(1.03, 1.01, 1.05), level))
    assert not corpus_verdict.slower(own(estimate(1.06, 0.99, 1.15), level))
    assert not corpus_verdict.slower(own(estimate(0.80, 0.70, 0.90), level))
    assert not corpus_verdict.slower({})


def test_the_table_counts_what_it_shows() -> None:
    fine = Result("fine", "measure", own=own(estimate(1, 0.9, 1.1), estimate(1, 0.9, 1.1)))
    slow = Result("slow", "measure", own=own(estimate(2, 1.9, 2.1), estimate(1, 0.9, 1.1)))
    other = Result("other", "measure", own=dict(fine.own, differing=["standard output (adapted)"]))
    refused = Result("refused", "prepare", refusal="nobody has this package")
    text = corpus_table.table([fine, slow, other, refused])
    assert "refused: nobody has this package" in text
    assert "other: other output: standard output (adapted)" in text
    assert "4 programs: 0 reports, 3 adapted programs measured here, 1 refusals, 0 not run;" in text
    assert "1 with other outputs" in text
    assert "other work had 50 to 50 % of the processors" in text
    assert "slower adapted than plain here: slow, of them" in text


def test_a_loss_that_moved_code_has_too_is_told_as_placement() -> None:
    again, small, large = (estimate(x, x - 0.01, x + 0.01) for x in (1.0, 1.01, 1.06))
    lost = own(estimate(1.05, 1.04, 1.06), again)
    assert not corpus_verdict.is_placement(lost)
    assert not corpus_verdict.is_placement(lost | {"moved": {"moved-16": small}})
    moved = lost | {"moved": {"moved-16": small, "moved-32": large}}
    assert corpus_verdict.is_placement(moved)
    text = corpus_table.table([Result("slow", "measure", own=moved)])
    assert "slow: plain, code moved by 32 bytes: 1.060 (1.050 to 1.070)" in text
    assert "with its code moved: slow;" in text


def test_the_plain_program_is_built_with_its_code_moved(toy: Make) -> None:
    """`nm` tells where functions lie; the outputs do not change."""
    output = toy("echo 'int main(void) { return 0; }' >toy.c && $CC -O1 -o toy toy.c")
    output.mkdir()
    described = program.read(corpus_run.corpus() / "toy")
    places = Places(output, described.name)
    for folder in (places.source, places.output / "logs"):
        folder.mkdir()
    addresses = {place_of_main(folder) for _, folder in corpus_moved.builds_of(described, places)}
    assert len({address % 4096 for address in addresses}) == len(corpus_moved.DISPLACEMENTS)


def place_of_main(folder: Path) -> int:
    symbols = subprocess.run(["nm", folder / "toy"], capture_output=True, text=True, check=True)
    return next(int(line.split()[0], 16) for line in symbols.stdout.splitlines() if " main" in line)


def test_a_build_that_fails_is_a_refusal_with_the_place_of_what_it_said(toy: Make) -> None:
    output = toy("echo no such header; exit 3")
    result = corpus_run.run("toy", output, Limits(seconds=600, rounds=7, kernels=False))
    assert result.stage == "prepare"
    assert "ended with status 3" in result.refusal
    assert result.refusal.endswith("ends with: no such header")
    assert "no such header" in (output / "toy/logs/build-plain.log").read_text()
    assert not result.own


def test_what_hangs_is_ended_with_its_children_when_its_time_is_over(toy: Make) -> None:
    output = toy(f"echo $$ >../pid; sleep {HANGS}; true")
    result = corpus_run.run("toy", output, Limits(seconds=SOON, rounds=7, kernels=False))
    assert f"not done within {SOON:.0f} s" in result.refusal
    child = int((output / "toy/pid").read_text())
    for _ in range(100):
        if not Path(f"/proc/{child}").exists():
            break
        time.sleep(0.1)
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_program_is_measured_beside_itself_on_this_machine(toy: Make) -> None:
    source = (
        "int main(void) { volatile long sum = 0; for (long i = 0; i < 30000000; i++) sum += i; }"
    )
    output = toy(f"echo '{source}' >toy.c && $CC -O1 -g -o toy toy.c")
    result = corpus_run.run("toy", output, Limits(seconds=600, rounds=7, kernels=False))
    assert result.refusal == ""
    assert result.stage == "build-adapted"
    assert result.own["rounds"] == 7
    assert result.own["differing"] == []
    assert json.loads((output / "toy/own.json").read_text()) == result.own


@pytest.mark.kernel
@pytest.mark.parametrize(
    "name", [IN_CI, *(pytest.param(name, marks=pytest.mark.full) for name in FULL)]
)
def test_the_quickest_end_in_a_report(name: str, tmp_path: Path) -> None:
    result = corpus_run.run(name, tmp_path, Limits(seconds=3000, rounds=7, kernels=True))
    assert result.refusal == ""
    assert result.stage == "measure"
    assert result.report["failures"] == []
    assert result.own["differing"] == []


def test_a_program_that_varies_by_itself_is_not_the_adaptations_fault() -> None:
    """If plain runs differ, a difference proves nothing; otherwise the table reports it."""
    alike = estimate(1.0, 0.9, 1.1)
    varies = own(alike, alike) | {"differing": ["stdout (adapted)", "stdout (again)"]}
    differs = own(alike, alike) | {"differing": ["stdout (adapted)"]}
    assert corpus_table.outputs(Result("toy", own=varies)) == corpus_table.CHANGING
    assert corpus_table.outputs(Result("toy", own=differs)) == "DIFFER"


# ---- the lab -------------------------------------------------------------------------------------


def test_one_kernel_has_what_any_plan_needs() -> None:
    """The needs united: all names, any flag that is true, the largest amount."""
    small = {"system_calls": ["read"], "threads": False, "memory_bytes": 1 << 20, "tasks": 1}
    large = {"system_calls": ["read", "mmap"], "threads": True, "memory_bytes": 1 << 30}
    assert corpus_lab.united([large, small]) == {
        "system_calls": ["mmap", "read"],
        "threads": True,
        "memory_bytes": 1 << 30,
        "tasks": 1,
    }


def test_a_run_that_failed_is_no_ratio() -> None:
    """The row's other runs still give ratios, but no output is called the same."""
    reading = {"instructions": 2_000_000, "minor_faults": 7, "same": True}
    found = {
        "debian plain": reading,
        "tailored plain": reading | {"instructions": 1_500_000},
        "tailored adapted": {"failed": "the guest ended"},
    }
    assert corpus_lab.row("toy", found) == ("toy", "2", "0.7500", "-", "-", "7 -> -", "-")


def test_an_output_that_differs_in_the_lab_is_told() -> None:
    """The instruction counts do not matter for it."""
    reading = {"instructions": 1_000_000, "minor_faults": 7, "same": True}
    found = {
        "debian plain": reading,
        "tailored plain": reading,
        "tailored adapted": reading | {"same": False},
    }
    assert corpus_lab.row("toy", found)[-1] == "DIFFER"
