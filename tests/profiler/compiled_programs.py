# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds programs in profile mode and runs them without `kadence profile`."""

import os
import subprocess
from collections import Counter
from pathlib import Path

from patience import PATIENCE_SECONDS

from kadence.base.resources import built
from kadence.profiler import kprof
from kadence.profiler.format.profile import Profile

PROGRAMS = Path(__file__).parent / "programs" / "compiled"
WRAPPERS = {".c": "kadence-cc", ".cc": "kadence-c++", ".f90": "kadence-fc"}
COMPILERS = {".c": "gcc-12", ".cc": "g++-12", ".f90": "gfortran-12"}

Name = tuple[str, str, int | None]


def build(directory: Path, source: str, *options: str, mode: str = "fast") -> Path:
    """Compile one of the test programs in profile mode."""
    path = PROGRAMS / source
    program = directory / f"{path.stem}-{mode}"
    subprocess.run(
        [built(f"bin/{WRAPPERS[path.suffix]}"), path, "-o", program, *options],
        cwd=directory,
        env=os.environ | {"KADENCE_MODE": "profile", "KADENCE_PROFILE": mode},
        check=True,
    )
    return program


def build_plain(directory: Path, source: str, *options: str) -> Path:
    """Compile a test program with the plain compiler."""
    path = PROGRAMS / source
    program = directory / f"{path.stem}-plain"
    subprocess.run(
        [COMPILERS[path.suffix], path, "-o", program, *options], cwd=directory, check=True
    )
    return program


def run(
    program: Path, *arguments: str, status: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run it in its folder; its profile is PROGRAM.kprof unless `environment` says otherwise."""
    completed = subprocess.run(
        [program, *arguments],
        cwd=program.parent,
        env=os.environ | {"KADENCE_PROFILE_OUTPUT": f"{program}.kprof"} | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert completed.returncode == status, completed.stderr
    return completed


def build_opener(directory: Path) -> Path:
    """A program that opens a library, calls its function called(), and closes it again."""
    source = directory / "opens.c"
    source.write_text(
        "#include <dlfcn.h>\n"
        "int main(int argc, char **argv)\n"
        "{\n"
        "\tvoid *library = dlopen(argv[1], RTLD_NOW);\n"
        '\tint result = ((int (*)(void))dlsym(library, "called"))();\n'
        "\treturn dlclose(library) + result;\n"
        "}\n"
    )
    return build(directory, str(source), "-O2")


def profile_of(program: Path) -> Profile:
    """The profile that the program's last run wrote."""
    return kprof.read(Path(f"{program}.kprof"))


def counts(profile: Profile) -> Counter[Name]:
    """How often each named block was entered in the whole run."""
    found: Counter[Name] = Counter()
    totals = profile.counts.sum(axis=0)
    for block, count in zip(profile.blocks, totals, strict=True):
        found[block.function, block.checksum, block.index] += int(count)
    return found


def entries(profile: Profile, function: str) -> int:
    """How often a function was called."""
    totals = profile.counts.sum(axis=0)
    return sum(
        int(count)
        for block, count in zip(profile.blocks, totals, strict=True)
        if block.function == function and block.entry
    )
