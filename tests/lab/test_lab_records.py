# SPDX-License-Identifier: GPL-2.0-or-later
"""Ways to write records: what arrives is compared, goals are judged, senders refuse nonsense."""

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from patience import PATIENCE_SECONDS

from kadence.lab import Figure, figures

MEBIBYTE = 1 << 20
SENDERS = ("plain", "batch")


@pytest.fixture
def bench(root: Path) -> Iterator[Callable[[str], ModuleType]]:
    """A module of bench/."""
    sys.path.insert(0, str(root))
    yield importlib.import_module
    sys.path.remove(str(root))


@dataclass(frozen=True)
class FakePlace:
    """Every operation takes as many instructions as its record has bytes."""

    name: str = "nowhere"
    unit: str = "instructions"

    def measure(self, program: str, operations: Sequence[str]) -> dict[str, Figure]:
        def figure(name: str) -> Figure:
            cost = float(name.rpartition(".")[2])
            return Figure(name, "ns", cost, cost, cost, rounds=1)

        return {name: figure(name) for name in operations}


@pytest.mark.parametrize("program", ["lab", "lab-dynamic", "lab-adapted"])
def test_every_make_delivers_what_it_was_given(root: Path, program: str) -> None:
    command = [root / "build/bench/lab" / program, "-r", "1"]
    wanted = [f"{place}.{method}.64" for place in ("file", "pipe", "tcp", "local")
              for method in ("write", "writev", "buffer", "batch", "stdio", "splice")]  # fmt: skip
    wanted.append("file.flush.64")
    done = subprocess.run([*command, *wanted], capture_output=True, text=True, check=True)
    found = figures.read(done.stdout)[1]
    assert {name: figure.error for name, figure in found.items()} == dict.fromkeys(wanted)


def test_records_have_goals(bench: Callable[[str], ModuleType]) -> None:
    io_records = bench("bench.io.io_records")
    chosen = [("file", 16), ("tcp", 256), ("pipe", 16)]
    taken = io_records.measure(FakePlace(), chosen)
    table = io_records.records(taken, chosen, judge=True)
    assert [line[-2:] for line in table[1:]] == [["<= 60", "met"], ["", ""], ["", ""]]
    assert io_records.verdict(61, 60) == "MISSED"
    assert io_records.verdict(None, 60) == "MISSED"
    assert all(len(line) == len(table[0]) for line in table)
    assert [line[5] for line in table[1:]] == ["16 (16-16)", "", ""]  # only files have rings


def test_flushes_are_of_files(bench: Callable[[str], ModuleType]) -> None:
    io_records = bench("bench.io.io_records")
    taken = io_records.measure(FakePlace(), [("file", 16), ("pipe", 16)])
    flushed = io_records.flushed(taken, [("file", 16), ("pipe", 16)])
    assert [line[0] for line in flushed[1:]] == ["file (tmpfs) 16 B"]


def test_latency_may_not_grow(bench: Callable[[str], ModuleType]) -> None:
    io_records = bench("bench.io.io_records")
    taken = io_records.measure(FakePlace(), [("tcp", 16)])
    assert [line[-1] for line in io_records.latency(taken)[1:]] == ["met", "met"]


def test_percent_less_and_linearity_are_as_computed(bench: Callable[[str], ModuleType]) -> None:
    send = bench("bench.send.send")
    # Plain takes a nanosecond a byte, a batch a quarter of it; one line is off by a tenth.
    times = {
        (make, size, transfer): [int(transfer * share)]
        for make, share in (("plain", 1.0), ("batch", 0.25))
        for size in send.SIZES
        for transfer in (MEBIBYTE, 2 * MEBIBYTE)
    }
    series = send.Series("nowhere", (MEBIBYTE, 2 * MEBIBYTE), times, has_goals=True)
    assert series.less("batch", 64, MEBIBYTE) == pytest.approx(75.0)
    assert send.linear(series).endswith("plain at 11 of 11 sizes; batch at 11 of 11 sizes.")
    times["plain", 64, 2 * MEBIBYTE] = [int(2.5 * MEBIBYTE)]
    assert "plain at 10 of 11 sizes, not at 64 (20%); batch at 11 of" in send.linear(series)
    assert send.verdict(series, 64, 69.9).endswith("MISSED")
    assert send.verdict(series, 64, 70.0).endswith("met")
    assert send.verdict(series, 8192, 1.0) == ""


@pytest.mark.parametrize("make", SENDERS)
def test_senders_deliver(root: Path, make: str) -> None:
    command = [root / f"build/bench/send/send-{make}", "4096", str(MEBIBYTE)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True
    )
    assert done.stdout.split()[:3] == [make, "4096", str(MEBIBYTE)]


@pytest.mark.parametrize("words", [[], ["64"], ["63", str(MEBIBYTE)], ["64", "1"], ["64", "-1"]])
def test_senders_refuse_nonsense(root: Path, words: list[str]) -> None:
    command = [root / "build/bench/send/send-plain", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage" in done.stderr
