# SPDX-License-Identifier: GPL-2.0-or-later
"""Instruments the functions of this machine's own kernel, for a job or for tasks."""

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import KadenceError, ToolError, UsageError
from kadence.kadapt.live.btf import Types
from kadence.kadapt.live.symbols import KALLSYMS, TRACED
from kadence.observe.probes import results
from kadence.observe.probes.guest import PROBE
from kadence.observe.probes.instruments import Instrument, Kernel, listed
from kadence.observe.probes.results import Results

DEVICE = Path("/dev/kadapt_probe")
TYPES = Path("/sys/kernel/btf/vmlinux")


def require() -> None:
    """Raise ToolError if this machine's kernel can't be instrumented by this user."""
    if os.geteuid():
        raise ToolError("only root may instrument a machine's own kernel; run this as root")
    if not DEVICE.exists():
        raise ToolError(
            f"there is no {DEVICE}; `modprobe kadapt_probe`, which package kadapt-dkms builds, or "
            f"load what `make kadapt-module RELEASE={os.uname().release}` builds"
        )


def kernel() -> Kernel:
    """What this machine's kernel says of its functions."""
    try:
        traced = Path(TRACED).read_text(encoding="ascii").splitlines()
    except OSError as error:
        raise ToolError(
            f"cannot read {TRACED}: {error.strerror}; mount tracefs at /sys/kernel/tracing"
        ) from error
    places = frozenset(int(line.split()[0], 16) for line in traced)
    types = Types(TYPES.read_bytes()) if TYPES.exists() else None
    lines = Path(KALLSYMS).read_text(encoding="ascii").splitlines()
    return Kernel("this kernel", lines, places, types)


def ranks(job: str) -> dict[int, int]:
    """The processes of a Slurm job on this node, with the rank of each."""
    command = ["scontrol", "listpids", job]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ToolError(f"cannot run scontrol: {error.strerror}; is this a node?") from error
    rows = [line.split() for line in told.stdout.splitlines()[1:]]
    found = {int(row[0]): int(row[4]) for row in rows if len(row) == 5 and row[4].isdecimal()}
    if not found:
        raise UsageError(f"no process of job {job} runs on this node; `squeue` lists jobs")
    return found


def tasks(processes: Sequence[int]) -> list[int]:
    """All threads of the processes."""
    found = []
    for process in processes:
        try:
            found += sorted(int(each.name) for each in Path(f"/proc/{process}/task").iterdir())
        except FileNotFoundError as error:
            raise UsageError(f"there is no process {process}; `ps` lists processes") from error
    return found


def observe(
    instruments: Sequence[Instrument],
    running: Sequence[int],
    seconds: float,
    events: Path | None = None,
) -> Results:
    """Observe the tasks and all that they create, for so long. All they do goes to `events`."""
    named = [word for task in running for word in ("-p", str(task))]
    named += ["-e", str(events)] if events else []
    with tempfile.TemporaryDirectory(prefix="kadence-observe-") as name:
        functions, out = Path(name, "functions"), Path(name, "records")
        functions.write_text(listed(instruments), encoding="ascii")
        probe = [str(resources.built(PROBE)), *named, "-s", f"{seconds:g}"]
        done = subprocess.run([*probe, str(functions), str(out)], check=False)
        if done.returncode:
            raise KadenceError("the functions were not instrumented; the line above says why")
        return results.read(out.read_text(encoding="utf-8").splitlines())


def by_rank(found: Results, known: Mapping[int, int]) -> dict[int, Results]:
    """The results of each rank; children of a rank's processes are not told apart, and left out."""
    numbers = sorted(set(known.values()))
    return {
        rank: Results(
            found.costs, [block for block in found.blocks if known.get(block.process) == rank]
        )
        for rank in numbers
    }
