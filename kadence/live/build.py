# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds a unit: a C file with new versions of functions becomes a module for one kernel."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import KadenceError, ToolError
from kadence.boot import debian
from kadence.kadapt.live.klp import Module, Place
from kadence.kadapt.live.symbols import Symbols
from kadence.live.kernel import symbols_of

# Symbols that the macros of kadence/unit.h leave undefined, and what they stand for.
ORIGINAL = "kadence_original_"
FUNCTION = "kadence_function_"
NAME = re.compile(r"[a-z][a-z0-9_]{0,46}")
REPLACEMENTS = "kadence_replacements"  # their section
KBUILD = """obj-m := {name}.o
ccflags-y += -I{include} -I{driver}
"""


@dataclass(frozen=True)
class Built:
    """A unit's module and what it takes from the kernel."""

    content: bytes
    replaced: list[str]
    unexported: list[str]

    def write(self, output: Path) -> None:
        """Write the module; a file that is there is replaced in one step."""
        aside = output.with_name(f".{output.name}.{os.getpid()}")
        try:
            aside.write_bytes(self.content)
            aside.replace(output)
        except OSError as error:
            raise KadenceError(f"cannot write {output}: {error.strerror}") from error
        finally:
            aside.unlink(missing_ok=True)


def build(source: Path, release: str) -> Built:
    """Build the unit for an installed or fetched kernel of Debian's."""
    name = source.stem
    if source.suffix != ".c" or not NAME.fullmatch(name):
        raise KadenceError(
            f"{source} is not the source of a unit; its name must be small letters, digits and "
            "underscores, and end in .c"
        )
    if not source.is_file():
        raise KadenceError(f"there is no file {source}; name the source of a unit")
    headers = debian.kernel_headers(release)
    with tempfile.TemporaryDirectory(prefix="kadence-live-") as folder:
        compiled = _compiled(source, headers, _driver_symbols(release), Path(folder))
        module = Module(compiled.read_bytes())
    return _linked(module, _exported(headers), release)


def _driver_symbols(release: str) -> Path:
    place = resources.home() / "build/kadapt" / f"module-{release}" / "Module.symvers"
    if not place.exists():
        raise ToolError(
            f"{place} is missing; run `make kadapt-module RELEASE={release}` in {resources.home()}"
        )
    return place


def _compiled(source: Path, headers: Path, driver_symbols: Path, folder: Path) -> Path:
    root = resources.home()
    shutil.copy(source, folder)
    include, driver = root / "kadapt/live/include", root / "kadapt/driver"
    kbuild = KBUILD.format(name=source.stem, include=include, driver=driver)
    (folder / "Kbuild").write_text(kbuild)
    # Symbols that the kernel does not export are resolved below.
    command = ["make", "-s", "-C", str(headers), f"M={folder}", "modules"]
    command += ["KBUILD_MODPOST_WARN=1", f"KBUILD_EXTRA_SYMBOLS={driver_symbols}"]
    completed = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MAKEFLAGS": ""},
    )
    if completed.returncode:
        raise KadenceError(f"{source} does not compile:\n{completed.stderr.rstrip()}")
    return folder / f"{source.stem}.ko"


def _exported(headers: Path) -> set[str]:
    table = (headers / "Module.symvers").read_text()
    return {line.split("\t")[1] for line in table.splitlines()} | {"kadapt_unit_install"}


def _linked(module: Module, exported: set[str], release: str) -> Built:
    symbols = symbols_of(release)
    module.bound(REPLACEMENTS)
    undefined = set(module.undefined().values())
    if not any(name.startswith(FUNCTION) for name in undefined):
        raise KadenceError("the unit replaces no function; declare one with KADENCE_REPLACES")
    places = {name: _place(name, symbols) for name in sorted(undefined - exported)}
    replaced = [name.removeprefix(FUNCTION) for name in places if name.startswith(FUNCTION)]
    return Built(module.resolve(places), replaced, _unexported(places))


def _place(name: str, symbols: Symbols) -> Place:
    if name.startswith(ORIGINAL):
        return symbols.original(name.removeprefix(ORIGINAL))
    return symbols.place(name.removeprefix(FUNCTION))


def _unexported(places: Mapping[str, Place]) -> list[str]:
    return [name for name in places if not name.startswith((ORIGINAL, FUNCTION))]
