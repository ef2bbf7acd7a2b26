# SPDX-License-Identifier: GPL-2.0-or-later
"""Phases of an adapted program for tracers and profilers: probes, tools, traces."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
# heat writes a checkpoint each EVERY steps: that is its second phase.
STEPS, EVERY = 60, 20
CHECKPOINTS = STEPS // EVERY
ARGUMENTS = ["-n", "64", "-s", str(STEPS), "-e", str(EVERY)]
NAMES = {"0": "compute", "1": "file-io"}
PROBES = "".join(
    f'usdt:./heat-adapted:kadapt:phase_{what} {{ printf("{what} %d %s\\n", arg0, str(arg1)); }}\n'
    for what in ("enter", "leave")
)
# What a profiler in the process has: Caliper's functions, and NVTX's.
PROFILER = """
#include <stdio.h>
void cali_begin_region(const char *name) { fprintf(stderr, "cali begin %s\\n", name); }
void cali_end_region(const char *name) { fprintf(stderr, "cali end %s\\n", name); }
int nvtxRangePushA(const char *name) { return fprintf(stderr, "nvtx push %s\\n", name); }
int nvtxRangePop(void) { return fprintf(stderr, "nvtx pop\\n"); }
"""


@pytest.fixture(scope="module")
def folder(root: Path, kadence: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """heat, plain and adapted."""
    place = tmp_path_factory.mktemp("stream")
    shutil.copy(root / "examples/heat/heat.c", place)
    compiler = root / "build/bin/kadence-cc"
    words = [compiler, "-O2", "heat.c", "-lm", "-o"]
    subprocess.run([*words, "heat"], cwd=place, check=True)
    kadence("profile", "-o", "P.kprof", "--", "./heat", "-s", "600", "-e", "60", cwd=place)
    kadence("phases", "P.kprof", "-o", "P.phases.json", cwd=place)
    kadence("plan", "P.phases.json", "-o", "P.plan.json", cwd=place)
    adapting = os.environ | {"KADENCE_PLAN": str(place / "P.plan.json")}
    for more in ([*words, "heat-adapted"], [*words, "heat-static", "-static"]):
        made = subprocess.run(more, cwd=place, env=adapting, capture_output=True, text=True)
        assert (made.returncode, made.stderr) == (0, "")
    return place


def run(folder: Path, program: str = "heat-adapted", **settings: str) -> tuple[str, str]:
    done = subprocess.run(
        [folder / program, *ARGUMENTS],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin"} | settings,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, done.stderr


def adapter(root: Path, name: str) -> str:
    return str(root / f"build/kadapt/libkadapt-{name}.so")


def test_nothing_is_linked_or_written_unless_asked_for(folder: Path) -> None:
    def needed(program: str) -> str:
        told = subprocess.run(["ldd", folder / program], capture_output=True, text=True, check=True)
        return re.sub(r"\(0x\w+\)", "", told.stdout)

    assert needed("heat-adapted") == needed("heat")
    before = set(folder.iterdir())
    expected = run(folder, "heat")
    assert run(folder) == expected
    assert set(folder.iterdir()) - before <= {folder / "heat.checkpoint"}


def test_a_trace_for_perfetto(folder: Path, root: Path) -> None:
    trace = folder / "trace.json"
    settings = {"KADAPT_TOOL": adapter(root, "perfetto"), "KADAPT_TRACE": str(trace)}
    assert run(folder, **settings) == run(folder, "heat")
    # The format's list of events may lack its end.
    events = json.loads(trace.read_text().rstrip().rstrip(",") + "]")
    begun = [event["name"] for event in events if event["ph"] == "B"]
    assert begun.count("1 file-io") == CHECKPOINTS
    assert set(begun) == {f"{number} {name}" for number, name in NAMES.items()}
    assert [event["ts"] for event in events] == sorted(event["ts"] for event in events)
    for begin, end in zip(events[::2], events[1::2], strict=False):
        assert (begin["ph"], end["ph"], end["name"]) == ("B", "E", begin["name"])


def test_regions_of_a_profiler_in_the_process(folder: Path, root: Path) -> None:
    source, library = folder / "profiler.c", folder / "profiler.so"
    source.write_text(PROFILER)
    subprocess.run(["gcc-12", "-shared", "-fPIC", "-o", library, source], check=True)
    settings = {"KADAPT_TOOL": adapter(root, "regions"), "LD_PRELOAD": str(library)}
    expected, _ = run(folder, "heat")
    output, told = run(folder, **settings)
    assert output == expected
    assert told.count("cali begin phase 1 file-io\n") == CHECKPOINTS
    assert told.count("cali end phase 0 compute\n") == CHECKPOINTS
    nvtx = {"KADAPT_REGION_BEGIN": "nvtxRangePushA", "KADAPT_REGION_END": "nvtxRangePop"}
    _, told = run(folder, **settings, **nvtx)
    assert told.count("nvtx push phase 1 file-io\n") == CHECKPOINTS
    assert told.count("nvtx push") - told.count("nvtx pop") in (0, 1)


def test_a_tool_that_is_missing_is_told_and_harms_nothing(folder: Path, root: Path) -> None:
    output, told = run(folder, KADAPT_TOOL="/nonexistent.so")
    assert output == run(folder, "heat")[0]
    assert told.startswith("kadapt: no tool, because /nonexistent.so: ")
    assert len(told.splitlines()) == 1
    _, told = run(folder, KADAPT_TOOL=adapter(root, "regions"))
    assert "the program has no function cali_begin_region; preload its library" in told
    assert run(folder, "heat-static", KADAPT_TOOL="/nonexistent.so") == run(folder, "heat")


@pytest.mark.kernel
def test_bpftrace_sees_phases_by_name_in_a_guest(folder: Path, kadence: Run) -> None:
    (folder / "probes.bt").write_text(PROBES)
    command = ["bpftrace", "-c", f"./heat-adapted {' '.join(ARGUMENTS)}", "probes.bt"]
    words = ["lab", "--kernel", "debian", "--mem", "2G", "--"]
    ran = kadence(*words, *command, cwd=folder)
    assert ran.returncode == 0, ran.stderr
    seen = re.findall(r"^(enter|leave) (\d) ([a-z-]+)$", ran.stdout, re.MULTILINE)
    entered = [number for what, number, _ in seen if what == "enter"]
    assert entered.count("1") == CHECKPOINTS
    assert all(NAMES[number] == name for _, number, name in seen)
    for (_, _, _), (what, number, _) in zip(seen[::2], seen[1::2], strict=False):
        assert what == "leave"
        assert number in NAMES
