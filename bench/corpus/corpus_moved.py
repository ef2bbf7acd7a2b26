# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the plain program with its code at other addresses.

Code that only moves can take another time: caches, branch predictors and the decoder look up
instructions by their addresses (Mytkowicz et al., "Producing Wrong Data Without Doing Anything
Obviously Wrong!", ASPLOS 2009, section 4). An adapted program's code always moves. So a difference
that moving the plain program's code makes too is no effect of the adaptation.
"""

import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

from kadence.base.errors import ToolError
from kadence.program import builds
from kadence.program.places import Places
from kadence.program.program import Program

# Bytes by which code moves: multiples of 16, the alignment of functions. They differ in their
# places within a cache line (64 bytes) and within a page.
DISPLACEMENTS = (272, 832, 1984, 2704, 3328)
COMPILERS = {"CC": "gcc-12", "CXX": "g++-12", "FC": "gfortran-12"}
# The linker puts this section before all other code.
PADDING = '.section .text.unlikely,"axR",@progbits\n.skip {}, 0x90\n'
# The options are those with which a compiler links no program.
COMPILER = """#!/bin/sh
for word; do
	case $word in
	-c | -S | -E | -M | -MM | -r | -shared | -v | -V | -dump* | -print* | --version | --help)
		exec {compiler} "$@" ;;
	esac
done
exec {compiler} {padding} "$@"
"""


def builds_of(described: Program, places: Places) -> Iterator[tuple[str, Path]]:
    """Yields a name and a folder for each displacement."""
    for displacement in DISPLACEMENTS:
        name = f"moved-{displacement}"
        folder = places.output / name
        builds.copy(places.source, folder)
        log = places.output / "logs" / f"{name}.log"
        _build(described, folder, _compilers(places.output / "movers" / name, displacement), log)
        yield name, folder


def _compilers(place: Path, displacement: int) -> dict[str, str]:
    """Make compilers that link programs with the padding; returns the variables that name them."""
    place.mkdir(parents=True, exist_ok=True)
    padding = place / "padding.o"
    text = PADDING.format(displacement)
    assemble = ["gcc-12", "-c", "-x", "assembler", "-o", str(padding), "-"]
    subprocess.run(assemble, input=text, text=True, check=True)
    for compiler in COMPILERS.values():
        script = place / compiler
        words = {"compiler": compiler, "padding": shlex.quote(str(padding))}
        script.write_text(COMPILER.format(**words), encoding="utf-8")
        script.chmod(0o755)
    return {variable: str(place / compiler) for variable, compiler in COMPILERS.items()}


def _build(described: Program, folder: Path, compilers: dict[str, str], log: Path) -> None:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    with log.open("wb") as output:
        completed = subprocess.run(
            ["sh", "-c", described.build],
            cwd=folder,
            env=inherited | compilers,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if completed.returncode:
        raise ToolError(f"{described.name} could not be built with moved code; see {log}")
