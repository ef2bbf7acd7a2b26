# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds a unit: a C file with new versions of functions becomes a module for one kernel."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import KadenceError
from kadence.boot import debian, driver
from kadence.kadapt.live import btf, signatures
from kadence.kadapt.live import source as unit_source
from kadence.kadapt.live.btf import Types
from kadence.kadapt.live.klp import Module, Place
from kadence.kadapt.live.source import FUNCTION, ORIGINAL
from kadence.kadapt.live.symbols import Symbols
from kadence.live.kernel import symbols_of, types_of

INSTALL = "kadapt_unit_install"  # the driver exports it
KBUILD = """obj-m := {name}.o
ccflags-y += -I{include} -I{driver} {flag}
include {include}/kadence/unit.mk
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


def build(source: Path, release: str, driver_symbols: Path | None = None) -> Built:
    """Build the unit for an installed or fetched kernel of Debian's.

    `driver_symbols` is SYMBOLS of a driver for this kernel that the caller built.
    """
    unit_source.check([source])
    headers = debian.kernel_headers(release)
    symbols = driver_symbols or driver.modules(release) / driver.SYMBOLS
    with tempfile.TemporaryDirectory(prefix="kadence-live-") as folder:
        compiled = _compiled(source, headers, symbols, Path(folder))
        types = _types(compiled)
        module = Module(compiled.read_bytes())
    built = _linked(module, exported(headers), release)
    signatures.require_same(built.replaced, types, types_of(release))
    return built


def _compiled(source: Path, headers: Path, driver_symbols: Path, folder: Path) -> Path:
    shutil.copy(source, folder)
    include, headers_of_driver = unit_source.include(), resources.home() / "kadapt/driver"
    kbuild = KBUILD.format(
        name=source.stem, include=include, driver=headers_of_driver, flag=btf.FLAG
    )
    (folder / "Kbuild").write_text(kbuild)
    make(headers, folder, str(source), [f"KBUILD_EXTRA_SYMBOLS={driver_symbols}"])
    return folder / f"{source.stem}.ko"


def make(headers: Path, folder: Path, what: str, more: Sequence[str] = ()) -> None:
    """Let Kbuild compile the modules of a folder, for the kernel of these headers.

    Symbols that the kernel does not export stay undefined; Module.resolve() resolves them.
    """
    command = ["make", "-s", "-C", str(headers), f"M={folder}", "modules"]
    completed = subprocess.run(
        [*command, "KBUILD_MODPOST_WARN=1", *more],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MAKEFLAGS": ""},
    )
    if completed.returncode:
        raise KadenceError(f"{what} does not compile:\n{completed.stderr.rstrip()}")


def _types(module: Path) -> Types:
    """The unit's types; the module is left without them and without other debug information.

    They are in the object file that the module is made of. The kernel would take the module's for
    types that refer to its own.
    """
    types = btf.of_object(module.with_suffix(".o"))
    command = ["objcopy", "--strip-debug", f"--remove-section={btf.OF_OBJECT}"]
    subprocess.run([*command, module], check=True)
    return types


def exported(headers: Path) -> set[str]:
    """The symbols that modules may use."""
    table = (headers / driver.SYMBOLS).read_text()
    return {line.split("\t")[1] for line in table.splitlines()} | {INSTALL}


def _linked(module: Module, exported: set[str], release: str) -> Built:
    symbols = symbols_of(release)
    undefined = set(module.undefined().values())
    if not any(name.startswith(FUNCTION) for name in undefined):
        raise KadenceError("the unit replaces no function; declare one with KADENCE_REPLACES")
    places = {name: place(name, symbols) for name in sorted(undefined - exported)}
    replaced = [name.removeprefix(FUNCTION) for name in places if name.startswith(FUNCTION)]
    return Built(module.resolve(places), replaced, _unexported(places))


def place(name: str, symbols: Symbols) -> Place:
    """Where a module's undefined symbol is, which may be one that the macros of unit.h left."""
    if name.startswith(ORIGINAL):
        return symbols.original(name.removeprefix(ORIGINAL))
    return symbols.place(name.removeprefix(FUNCTION))


def _unexported(places: Mapping[str, Place]) -> list[str]:
    return [name for name in places if not name.startswith((ORIGINAL, FUNCTION))]
