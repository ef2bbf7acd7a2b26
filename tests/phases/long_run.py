# SPDX-License-Identifier: GPL-2.0-or-later
"""A long run of known phases, with noise: its profile and its phases artefact.

The tests show runs and do not need `kadence phases`: the phases of this run are known, so this
module writes the artefact itself.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from kadence.base import artefact
from kadence.profiler import kprof
from kadence.profiler.format.profile import Block, Profile, SystemCalls

INTERVAL = 1_000_000
BUILD_ID = "cd" * 20
PHASES = 8
NOISE = 0.1

NO_MEMORY = {
    **dict.fromkeys(("faults", "file_pages", "peak_resident_bytes"), 0),
    **{"page_bytes": 4096, "limit_bytes": 0, "rows_unseen": 0},
    **{"sites": [], "ranges": [], "growth": []},
}


@dataclass(frozen=True)
class LongRun:
    """`shares` are the normalised vectors, computed here and not by Kadence."""

    shares: sparse.csr_matrix
    assignment: npt.NDArray[np.int64]
    profile: Profile

    def write(self, folder: Path, name: str = "long") -> Path:
        """Write the profile, and the artefact beside it; returns the artefact's path."""
        path = folder / f"{name}.phases.json"
        kprof.write(folder / f"{name}.kprof", self.profile)
        artefact.write(path, artefact.PHASES, BUILD_ID, ["kadence", "phases"], self._body())
        return path

    def _body(self) -> dict[str, Any]:
        rows = len(self.assignment)
        firsts = np.flatnonzero(np.diff(self.assignment, prepend=-1)).tolist()
        before = [None, *self.assignment[[first - 1 for first in firsts[1:]]].tolist()]
        return {
            "program": ["/tmp/long"],
            "backend": "kbbv",
            "files": ["long.c"],
            "interval": INTERVAL,
            "intervals": rows,
            "threads": [1],
            "assignment": self.assignment.tolist(),
            "instructions": self.profile.instructions.tolist(),
            "thread": self.profile.thread.tolist(),
            "phases": [self._phase(number) for number in range(PHASES)],
            "transitions": [],
            "transition_weight": 0.0,
            "waiting": [],
            "waiting_weight": 0.0,
            "outside": {"why": None},
            "boundaries": [
                {"row": first, "from": previous, "to": int(self.assignment[first])}
                for first, previous in zip(firsts, before, strict=True)
            ],
            "markers": [],
            "hierarchy": {"joinings": [], "markers": []},
            "concurrency": {
                "threads": 1,
                "processes": 1,
                "shared_memory": False,
                "synchronises": False,
                "evidence": "",
            },
            "system_calls": [],
            "socket_families": [],
            "others_system_calls": [],
            "others_socket_families": [],
            "ranks": [],
            "memory_bytes": 0,
            "memory": NO_MEMORY,
        }

    def representative(self, number: int) -> int:
        """The interval that the artefact names as a phase's representative."""
        members = np.flatnonzero(self.assignment == number)
        return int(members[len(members) // 2])

    def _phase(self, number: int) -> dict[str, Any]:
        members = np.flatnonzero(self.assignment == number)
        return {
            "id": number,
            "weight": round(len(members) / len(self.assignment), 6),
            "kind": "file-io" if number == PHASES - 1 else "compute",
            "io_calls_per_million": 0.0,
            "io_bytes_per_million": 0.0,
            "representative": self.representative(number),
            "intervals": len(members),
            "mean_distance": 0.0,
            "hottest": [{"function": f"work_{number}", "file": "long.c", "line": 10, "share": 0.5}],
            "system_calls": [],
            "writes": [],
            "memory": {
                "faults": 0,
                "bytes": 0,
                "order": None,
                "scattered": 0,
                "file_pages": 0,
            },
        }


def long_run(rows: int, per_row: int, blocks: int, seed: int = 3) -> LongRun:
    """A run of `rows` intervals, each with `per_row` of the `blocks` blocks."""
    generator = np.random.default_rng(seed)
    assignment = _assignment(generator, rows)
    columns = np.array(
        [np.sort(generator.choice(blocks, per_row, replace=False)) for _ in range(PHASES)]
    )
    weights = generator.exponential(size=(PHASES, per_row)) + 0.01
    values = weights[assignment] * (1 + NOISE * generator.standard_normal((rows, per_row))).clip(
        0.1
    )
    values /= values.sum(axis=1, keepdims=True)
    indptr = np.arange(rows + 1) * per_row
    whole = np.rint(values * INTERVAL)
    vectors = sparse.csr_array((whole.ravel(), columns[assignment].ravel(), indptr), (rows, blocks))
    sums = whole.sum(axis=1)
    shares = sparse.csr_matrix(
        ((whole / sums[:, np.newaxis]).ravel(), vectors.indices, indptr), (rows, blocks)
    )
    return LongRun(shares, assignment, _profile(vectors, sums.astype(np.int64), assignment))


def _assignment(generator: np.random.Generator, rows: int) -> npt.NDArray[np.int64]:
    """Each row's phase: visits of uneven length, every phase in turn."""
    lengths = generator.integers(rows // 200, rows // 40, size=200)
    phases = np.arange(200) % PHASES
    return np.repeat(phases, lengths)[:rows].astype(np.int64)


def _profile(
    vectors: sparse.csr_array,
    instructions: npt.NDArray[np.int64],
    assignment: npt.NDArray[np.int64],
) -> Profile:
    rows, blocks = vectors.shape
    writing = np.flatnonzero(assignment == PHASES - 1).tolist()
    return Profile(
        interval=INTERVAL,
        vectors=vectors,
        counts=sparse.csr_array(
            (np.ceil(vectors.data / 10), vectors.indices, vectors.indptr), vectors.shape
        ),
        instructions=instructions,
        thread=np.ones(rows, dtype=np.int32),
        start=np.cumsum(instructions) - instructions,
        blocks=tuple(
            Block(0x1000 + 64 * number, 10, f"f{number}", "long.c", number + 1, "/tmp/long", False)
            for number in range(blocks)
        ),
        system_calls=tuple(SystemCalls(row, "write", "file", 200, 12_800) for row in writing),
        build_id=BUILD_ID,
        argv=("/tmp/long",),
    )
