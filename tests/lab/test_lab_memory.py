# SPDX-License-Identifier: GPL-2.0-or-later
"""What `make bench-memory` measures with, against answers that are not its own."""

import importlib
import json
import subprocess
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest


@pytest.fixture
def memory_rows(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """bench/memory/memory_rows.py."""
    monkeypatch.syspath_prepend(str(root))
    return importlib.import_module("bench.memory.memory_rows")


@pytest.fixture
def memory_touch(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """bench/memory/memory_touch.py."""
    monkeypatch.syspath_prepend(root)
    return importlib.import_module("bench.memory.memory_touch")


@pytest.fixture
def fields(root: Path, tmp_path: Path) -> Path:
    """The Fortran program, built by its own makefile."""
    makefile = root / "bench/memory/fields/Makefile"
    subprocess.run(["make", "-s", "-f", makefile, "FC=gfortran-12"], cwd=tmp_path, check=True)
    return tmp_path / "fields"


def test_figures_have_their_spread_and_their_verdict(memory_rows: ModuleType) -> None:
    Cell, Line = memory_rows.Cell, memory_rows.Line  # noqa: N806
    lines = [
        Line("slow", (Cell.of([5.0, 1.0, 3.0]), Cell.of([4.0, 4.0, 9.0], goal=3.0))),
        Line("quick", (Cell.of([2.5], digits=1), Cell.of([2.0], goal=2.0))),
        Line("absent", ("n/a (No such file or directory)",)),
        Line("a title", ()),
        Line("  below it", (Cell.of([2.0]), Cell.of([3.0], goal=2.0))),
    ]
    shown = [" ".join(line.split()) for line in memory_rows.table(("plain", "adapted"), lines)]
    assert shown == [
        "plain adapted",
        "slow 3 (1-5) 4 (4-9) <= 3 MISSED",
        "quick 2.5 2 <= 2 met",
        "absent n/a (No such file or directory)",
        "a title",
        "below it 2 3 <= 2 MISSED",
    ]
    tally = memory_rows.tally
    assert str(tally(lines)) == "3 goals, 2 MISSED: slow; a title: below it."
    assert str(tally(lines[1:3])) == "1 goals, all met."
    assert str(tally(lines) + tally(lines[1:3])) == "4 goals, 2 MISSED: slow; a title: below it."


def test_the_first_touch_is_counted_with_the_rest(
    memory_touch: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With figures that are known: all judged ones are above their goal, of half of them."""
    kernel = SimpleNamespace(id="a kernel", image=Path("an image"))
    monkeypatch.setattr(memory_touch.memory_kernel, "made_for_it", lambda _target: kernel)
    first = {"populate_ns": 0.0, "touch_ns": memory_touch.GOAL_NS + 1, "faults": 1.0}
    later = first | {"touch_ns": memory_touch.GOAL_NS}
    monkeypatch.setattr(memory_touch, "_run", lambda _way, _image: [first, later, later])
    lines = memory_touch.lines()
    while True:
        try:
            next(lines)
        except StopIteration as ended:
            found = ended.value
            break
    assert found.judged == 2 * 3
    assert found.missed == tuple(
        f"first touch: User-Mode Linux, KADAPT_MEMORY_{way}"
        for way in ("AHEAD", "DENSE", "DENSE, NOW")
    )


def touched(root: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [root / "build/bench/memory/touch", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_touching_page_by_page_faults_once_a_page(root: Path) -> None:
    done = touched(root, "plain", 8, 3)
    rounds = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["round"] for each in rounds] == [0, 1, 2]
    for each in rounds:
        assert 1 <= each["faults"] < 1.01
        assert each["touch_ns"] > 0


def test_no_figure_without_the_device(root: Path) -> None:
    if Path("/dev/kadapt").exists():
        pytest.skip("this machine's kernel has the device")
    done = touched(root, "dense", 8, 1)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "touch: dense: No such file or directory\n"


@pytest.mark.parametrize("arguments", [(), ("other", 1, 1), ("plain", 0, 1), ("plain", 1, "x")])
def test_touch_refuses_what_it_does_not_know(root: Path, arguments: tuple[object, ...]) -> None:
    done = touched(root, *arguments)
    assert (done.returncode, done.stdout) == (2, "")


def test_fields_agrees_with_numpy(fields: Path) -> None:
    cells, steps = 30, 12
    said = subprocess.run(
        [fields, str(cells), str(steps)], capture_output=True, text=True, check=True
    ).stdout.split()
    rows, columns = np.arange(1, cells + 1)[:, None], np.arange(1, cells + 1)[None, :]
    tracer = 1.0 + (7 * rows + 3 * columns) % 11
    for _ in range(steps):
        around = sum(np.roll(tracer, shift, axis) for shift in (1, -1) for axis in (0, 1))
        tracer = tracer + 0.2 * (around - 4 * tracer)
    assert float(said[1]) == pytest.approx(tracer.sum(), rel=1e-12)
    assert float(said[3]) == pytest.approx((tracer**2).sum(), rel=1e-12)


@pytest.mark.parametrize("argument", ["0", "1", "many"])
def test_fields_refuses_bad_arguments(fields: Path, argument: str) -> None:
    done = subprocess.run([fields, argument], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("fields: ")
