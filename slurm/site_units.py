# SPDX-License-Identifier: GPL-2.0-or-later
"""The units of a site's nodes: asks each node by a Slurm job of its own, so no daemon is needed."""

import json
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from kadence.base import codec, resources
from kadence.base.errors import ArtefactError, ToolError
from kadence.slurm.site import Site

# Jobs at once: a job costs the controller little, and a site may have thousands of nodes.
MOST_AT_ONCE = 32
SRUN = ("srun", "--quiet", "--input=none", "--nodes=1", "--ntasks=1", "--job-name=kadence-units")


@dataclass(frozen=True)
class Unit:
    """A unit that a node's kernel has."""

    name: str
    takers: str
    functions: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """What a node says after it has done what it was asked for."""

    node: str
    kernel: str
    units: tuple[Unit, ...]
    problem: str  # empty: none


def nodes(named: str | None) -> list[str]:
    """The names in a list as Slurm writes it, such as node[1-4]; without one, all nodes."""
    command = ["scontrol", "show", "hostnames", named] if named else ["sinfo", "-hNo", "%N"]
    completed = _run(command)
    if completed.returncode:
        raise ToolError(f"Slurm does not name the nodes: {_last_line(completed.stderr)}")
    return sorted(set(completed.stdout.split()))


def ask(names: Sequence[str], rules: Site, command: Sequence[str], seconds: int) -> list[Answer]:
    """Have kadence-node execute a command on each node that is free within so many seconds."""
    with ThreadPoolExecutor(MOST_AT_ONCE) as pool:
        return list(pool.map(partial(_ask, rules, command, seconds), names))


def _ask(rules: Site, command: Sequence[str], seconds: int, node: str) -> Answer:
    tool = [str(resources.built("slurm/kadence-node")), "--site", str(rules.file), "--node", node]
    limits = [f"--nodelist={node}", f"--immediate={seconds}"]
    completed = _run([*SRUN, *limits, *tool, *command])
    if completed.returncode:
        return Answer(node, "", (), f"it was not asked: {_last_line(completed.stderr)}")
    try:
        return codec.decode(Answer, json.loads(completed.stdout))
    except (ValueError, ArtefactError):
        return Answer(node, "", (), "its kadence-node is another version; install Kadence there")


def _run(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ToolError(f"there is no {command[0]} here; run this where Slurm is") from None


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "Slurm does not say why"
