# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs in which policies are tried, and the ways in which they run."""

from dataclasses import dataclass

from kadence.measurement.measure import ADAPTED, PLAIN

KEPT = 1 << 30
BLANKET = (
    "glibc.malloc.hugetlb=1",
    f"glibc.malloc.trim_threshold={KEPT}",
    f"glibc.malloc.mmap_threshold={KEPT}",
)


@dataclass(frozen=True)
class Way:
    """One way to run the program."""

    name: str
    build: str  # PLAIN or ADAPTED
    environment: tuple[tuple[str, str], ...] = ()
    has_trials: bool = False


REFERENCE = Way("plain", PLAIN)
AGAIN = Way("plain again", PLAIN)
SETTING = Way("plain, malloc's own setting", PLAIN, (("GLIBC_TUNABLES", ":".join(BLANKET)),))
TRUSTING = Way("adapted, no trials", ADAPTED, (("KADAPT_TRIALS", "off"),))
TRYING = Way("adapted, trials", ADAPTED, has_trials=True)
OWN_WAYS = (REFERENCE, AGAIN, SETTING, TRUSTING, TRYING)
GUEST_WAYS = (REFERENCE, AGAIN, TRUSTING, TRYING)


@dataclass(frozen=True)
class Subject:
    """A program of the table; `run` has many visits where the described run has few."""

    folder: str  # below the tree
    run: tuple[str, ...] = ()
    standard_input: str = ""
    inputs: tuple[str, ...] = ()  # files of its folder that a run in a guest reads


OWN = {
    "heat": Subject("examples/heat", ("./heat", "-e", "15")),
    "fft": Subject("examples/fft"),
    "fft, 2^16 points": Subject("examples/fft", ("./fft", "-n", "16", "-s", "400")),
    "fields": Subject("bench/memory/fields", ("./fields", "1000", "400")),
    "cg": Subject("bench/suite/cg", ("./cg", "40", "12")),
    "minimap2": Subject("examples/minimap2"),
    "heat-openmp": Subject("examples/heat-openmp", ("./heat-openmp", "-t", "2", "-e", "15")),
    "ring": Subject("examples/ring"),
    "pi-mpi": Subject("bench/corpus/pi-mpi", standard_input="many.in"),
    **{
        name: Subject(f"bench/corpus/{name}")
        for name in ("hmmer", "lua", "bzip2", "sqlite3", "samtools", "muscle")
    },
}
# On User-Mode Linux computing is as fast as outside, but calls and page faults are slow.
ON_UM = {
    "heat": Subject("examples/heat", ("./heat", "-e", "15")),
    "fields": Subject("bench/memory/fields", ("./fields", "700", "60")),
    "lua-print": Subject(
        "bench/corpus/lua-print",
        ("source/src/lua5.4", "squares.lua", "200000"),
        inputs=("squares.lua",),
    ),
}
# In the lab everything is emulated.
IN_LAB = {
    "heat": Subject("examples/heat", ("./heat", "-n", "384", "-s", "1500", "-e", "10")),
    "fields": Subject("bench/memory/fields", ("./fields", "300", "100")),
    "lua-print": Subject(
        "bench/corpus/lua-print",
        ("source/src/lua5.4", "squares.lua", "100000"),
        inputs=("squares.lua",),
    ),
}
