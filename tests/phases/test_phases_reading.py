# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that reads small records: its reads are found, planned, redirected, and the same."""

import json
import os
import random
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kadence import boot, resources

SOURCE = Path(__file__).parent / "reading.c"
CYCLES, STEPS, RECORDS, SIZE = 6, 400_000, 3000, 64
RUN = ["./reading", "records", str(SIZE)]

# How the program is built -> what its reads become: where the buffer's size is known, those of a
# fortified program are checked.
BUILDS = {
    "standing": (["-DSTANDING=__attribute__((noinline))"], "read"),
    "inlined": (["-DSTANDING="], "read"),
    "fortified": (["-DSTANDING=", "-D_FORTIFY_SOURCE=2"], "__read_chk"),
}
PRIME, MASK = 0x100000001B3, 2**64 - 1


def expected(records: bytes) -> str:
    """What the program prints."""
    lines = []
    value = 0xCBF29CE484222325
    for _ in range(CYCLES):
        for byte in records:
            value = (value ^ byte) * PRIME & MASK
        lines.append(value)
        for _ in range(STEPS):
            value = (value ^ value >> 29) * PRIME & MASK
    return "".join(f"{line:016x}\n" for line in [*lines, value])


@dataclass(frozen=True)
class Reading:
    """The program in one of its builds, and what was made of it."""

    folder: Path
    options: list[str]
    call: str  # what its reads are to the linker
    output: str
    phases: dict[str, Any] = field(default_factory=dict)
    plan: dict[str, Any] = field(default_factory=dict)

    def compile(self, *words: str, **environment: str) -> None:
        """With the wrapper."""
        definitions = [f"-DCYCLES={CYCLES}", f"-DSTEPS={STEPS}", *self.options]
        compiler = resources.built("bin/kadence-cc")
        command = [compiler, "-O2", "-g", "-w", *definitions, SOURCE, *words]
        subprocess.run(command, cwd=self.folder, env=os.environ | environment, check=True)


@pytest.fixture(scope="module")
def records() -> bytes:
    return random.Random(64).randbytes(RECORDS * SIZE)


@pytest.fixture(scope="module")
def output(records: bytes) -> str:
    return expected(records)


@pytest.fixture(scope="module", params=BUILDS)
def reading(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    kadence: Callable[..., subprocess.CompletedProcess[str]],
    records: bytes,
    output: str,
) -> Reading:
    """Profiled, planned, and built to the plan."""
    options, call = BUILDS[request.param]
    made = Reading(tmp_path_factory.mktemp(request.param), options, call, output)
    (made.folder / "records").write_bytes(records)
    made.compile("-o", "reading")
    for command in (
        ["profile", "--interval", "100000", "-o", "r.kprof", "--", *RUN],
        ["phases", "r.kprof", "-o", "r.phases.json"],
        ["plan", "r.phases.json", "-o", "r.plan.json"],
    ):
        done = kadence(*command, cwd=made.folder)
        assert done.returncode == 0, done.stderr
    made.phases.update(json.loads((made.folder / "r.phases.json").read_text()))
    made.plan.update(json.loads((made.folder / "r.plan.json").read_text()))
    made.compile("-o", "reading", KADENCE_PLAN="r.plan.json")
    return made


def test_reading_is_a_phase_and_calculating_another(reading: Reading) -> None:
    phases = reading.phases["phases"]
    assert [phase["kind"] for phase in phases] == ["file-io", "compute"]
    assert [boundary["to"] for boundary in reading.phases["boundaries"]] == [0, 1] * CYCLES


def test_every_read_is_counted(reading: Reading) -> None:
    """The loader's are a few more."""
    calls = reading.phases["system_calls"]
    count = sum(call["count"] for call in calls if call["name"] == "read")
    assert CYCLES * (RECORDS + 1) <= count <= CYCLES * (RECORDS + 1) + 16


def test_the_function_that_reads_is_planned(reading: Reading) -> None:
    """Others may be, too: too many rather than too few."""
    sites = [site for site in reading.plan["io"]["sites"] if site["phase"] == 0]
    assert "take_records" in {site["function"] for site in sites}
    assert all(site["calls"] == ["__read_chk", "read"] for site in sites)
    assert all("reads of 64 bytes on average from files" in site["evidence"] for site in sites)
    assert reading.plan["needs"]["io_paths"] is True


def test_the_call_is_redirected(reading: Reading) -> None:
    reading.compile("-c", "-o", "reading.o", KADENCE_PLAN="r.plan.json")
    command = ["nm", "-u", "-j", "reading.o"]
    listing = subprocess.run(
        command, cwd=reading.folder, capture_output=True, text=True, check=True
    ).stdout.split()
    assert {name for name in listing if "read" in name} == {f"kadapt_{reading.call}"}


def test_without_the_device_it_reads_the_same(reading: Reading) -> None:
    completed = subprocess.run(RUN, cwd=reading.folder, capture_output=True, text=True, check=True)
    assert completed.stdout == reading.output


@pytest.mark.kernel
def test_with_the_device_it_reads_the_same(generic_kernel: Any, reading: Reading) -> None:
    """And nearly all of it without a call."""
    printed = reading.folder / "printed"
    with printed.open("wb") as stream:
        request = boot.Request(
            image=generic_kernel.image,
            argv=RUN,
            directory=reading.folder,
            environment=os.environ | {"KADAPT_COUNTERS": str(reading.folder / "counters")},
            stdout=stream.fileno(),
        )
        result = boot.run(request)
    assert boot.complaints(result.log) == [], result.log
    assert (result.status, printed.read_text()) == (0, reading.output)
    counters = json.loads((reading.folder / "counters").read_text())["io"]
    assert counters["reads"] > 0.95 * CYCLES * RECORDS, counters
    assert counters["reads"] + counters["plain"] == CYCLES * (RECORDS + 1), counters
