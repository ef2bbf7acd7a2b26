# SPDX-License-Identifier: GPL-2.0-or-later
"""The modules that the bench loads into Debian's kernel."""

import shutil
import subprocess
from pathlib import Path

from bench.live import sources
from kadence.base import resources
from kadence.boot import debian, driver
from kadence.live.build import build
from kadence.live.kernel import symbols_of

HERE = Path(__file__).resolve().parent
GROUPS = {1: 5, 10: 15, 50: 50}  # functions -> most milliseconds to install them
COMPARED = ("probes", "empty", "halt")


def built(release: str, folder: Path) -> dict[str, Path]:
    """The driver, the units and what they are compared with, by their names in the guest."""
    texts = _units(release)
    for name, text in texts.items():
        (folder / f"{name}.c").write_text(text)
        build(folder / f"{name}.c", release).write(folder / f"{name}.ko")
    modules = {f"{name}.ko": folder / f"{name}.ko" for name in texts}
    modules[driver.DRIVER] = driver.modules(release) / driver.DRIVER
    compared = folder / "compared"
    _make_compared(release, compared)
    return modules | {f"{name}.ko": compared / f"{name}.ko" for name in COMPARED}


def _units(release: str) -> dict[str, str]:
    """The units' sources, by their names."""
    symbols = symbols_of(release)
    texts = {
        "table1": sources.table_1("KADENCE_UNIT"),
        "everybody": sources.table_1("KADENCE_UNIT_FOR_EVERYBODY"),
        "pair": (resources.home() / "tests/kadapt/live/pair.c").read_text(),
        "appends": (HERE / "appends.c").read_text(),
    }
    return texts | {f"group{count}": sources.group(count, symbols) for count in GROUPS}


def _make_compared(release: str, folder: Path) -> None:
    folder.mkdir()
    for name in COMPARED:
        shutil.copy(HERE / f"{name}.c", folder)
    (folder / "Kbuild").write_text(f"obj-m := {' '.join(f'{name}.o' for name in COMPARED)}\n")
    headers = debian.kernel_headers(release)
    subprocess.run(["make", "-s", "-C", headers, f"M={folder}", "modules"], check=True)
    files = [folder / f"{name}.ko" for name in COMPARED]
    subprocess.run(["strip", "--strip-debug", *files], check=True)
