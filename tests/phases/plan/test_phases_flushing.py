# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that flush each record: planned, redirected, and with the same output."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kadence import boot
from kadence.base import resources

HERE = Path(__file__).parent
CYCLES, STEPS, RECORDS = 6, 400_000, 3000
RUN = ["./flushing", "records"]
# tmpfs can reserve space, unlike the file system that shows the host's files to the guest.
ON_TMPFS = "mount -t tmpfs none /mnt && ./flushing /mnt/records && cp /mnt/records records"
PRIME, MASK = 0x100000001B3, 2**64 - 1


@dataclass(frozen=True)
class Build:
    """How the program is built, and the expected plan."""

    compiler: str
    source: str
    options: tuple[str, ...]
    function: str  # the planned function
    call: str
    streams: bool
    redirected: frozenset[str]


BUILDS = {
    "standing": Build(
        *("kadence-cc", "flushing.c", ("-DSTANDING=__attribute__((noinline))",)),
        function="put_record",
        call="fflush",
        streams=False,
        redirected=frozenset({"kadapt_fflush"}),
    ),
    "inlined": Build(
        *("kadence-cc", "flushing.c", ("-DSTANDING=",)),
        function="put_record",
        call="fflush",
        streams=False,
        redirected=frozenset({"kadapt_fflush"}),
    ),
    # std::endl is inlined from a header, so its lines are not the function's.
    "c++": Build(
        *("kadence-c++", "flushing.cc", ()),
        function="main",
        call="write",
        streams=True,
        redirected=frozenset(),
    ),
}


def records() -> str:
    """What the program must write."""
    return "".join(
        f"record {number} of cycle {cycle}\n"
        for cycle in range(CYCLES)
        for number in range(RECORDS)
    )


def output() -> str:
    """What the program must print."""
    state = 0xCBF29CE484222325
    for _ in range(CYCLES * STEPS):
        state = (state ^ state >> 29) * PRIME & MASK
    return f"{state:016x}\n"


@dataclass(frozen=True)
class Flushing:
    """The program in one of its builds, with its plan."""

    folder: Path
    build: Build
    plan: dict[str, Any] = field(default_factory=dict)

    def compile(self, *words: str, **environment: str) -> None:
        """Compile the program with the wrapper."""
        sizes = [f"-DCYCLES={CYCLES}", f"-DSTEPS={STEPS}", f"-DRECORDS={RECORDS}"]
        compiler = resources.built(f"bin/{self.build.compiler}")
        command = [compiler, "-O2", "-g", *sizes, *self.build.options, HERE / self.build.source]
        subprocess.run(
            [*command, *words], cwd=self.folder, env=os.environ | environment, check=True
        )

    def symbols(self, name: str, *options: str) -> set[str]:
        """The symbols of a file that are libkadapt's."""
        command = ["nm", "-j", *options, name]
        listing = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, check=True
        ).stdout.split()
        return {symbol for symbol in listing if symbol.startswith("kadapt_")}


@pytest.fixture(scope="module", params=BUILDS)
def flushing(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    kadence: Callable[..., subprocess.CompletedProcess[str]],
) -> Flushing:
    """The program, profiled, planned, and built with the plan."""
    made = Flushing(tmp_path_factory.mktemp("flushing"), BUILDS[request.param])
    made.compile("-o", "flushing")
    for command in (
        ["profile", "--interval", "500000", "-o", "f.kprof", "--", *RUN],
        ["phases", "f.kprof", "-o", "f.phases.json"],
        ["plan", "f.phases.json", "-o", "f.plan.json"],
    ):
        done = kadence(*command, cwd=made.folder)
        assert done.returncode == 0, done.stderr
    made.plan.update(json.loads((made.folder / "f.plan.json").read_text()))
    made.compile("-o", "flushing", KADENCE_PLAN="f.plan.json")
    return made


def test_the_function_that_flushes_is_planned(flushing: Flushing) -> None:
    io = flushing.plan["io"]
    assert [(io["mode"], io["streams"])] == [("strict", flushing.build.streams)]
    assert {site["function"] for site in io["sites"]} == {flushing.build.function}
    assert all(site["calls"] == [flushing.build.call] for site in io["sites"])
    assert flushing.plan["needs"]["io_paths"] is True


def test_the_call_is_redirected(flushing: Flushing) -> None:
    flushing.compile("-c", "-o", "flushing.o", KADENCE_PLAN="f.plan.json")
    others = {"kadapt_phase_enter", "kadapt_io_anchor", "kadapt_filter_anchor"}
    assert flushing.symbols("flushing.o", "-u") - others == flushing.build.redirected
    # libkadapt interposes the calls that shared libraries make.
    defined = flushing.symbols("flushing", "--defined-only")
    assert {"kadapt_plan", "kadapt_io_anchor"} <= defined


def test_without_the_device_it_writes_the_same(flushing: Flushing) -> None:
    done = subprocess.run(RUN, cwd=flushing.folder, capture_output=True, text=True, check=True)
    assert done.stdout == output()
    assert (flushing.folder / "records").read_text() == records()


@pytest.mark.kernel
def test_with_the_device_it_writes_the_same(generic_kernel: Any, flushing: Flushing) -> None:
    """It also writes more than 95% of the records without a system call."""
    (flushing.folder / "records").unlink()
    printed = flushing.folder / "printed"
    with printed.open("wb") as stream:
        request = boot.Request(
            image=generic_kernel.image,
            argv=["/bin/sh", "-c", ON_TMPFS],
            directory=flushing.folder,
            environment=os.environ | {"KADAPT_COUNTERS": str(flushing.folder / "counters")},
            stdout=stream.fileno(),
        )
        result = boot.run(request)
    assert boot.complaints(result.log) == [], result.log
    assert (result.status, printed.read_text()) == (0, output())
    assert (flushing.folder / "records").read_text() == records()
    counters = json.loads((flushing.folder / "counters").read_text())["io"]
    assert counters["appends"] > 0.95 * CYCLES * RECORDS, counters
