# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the module of positioned code for one kernel."""

import shutil
import tempfile
from pathlib import Path

from kadence.base import resources
from kadence.boot import debian
from kadence.kadapt.live.klp import Module
from kadence.live.build import Built, exported, make, place
from kadence.live.kernel import symbols_of
from kadence.positioned.assembly import Assembly
from kadence.positioned.image import Image
from kadence.positioned.layout import Layout

# The copies have the kernel's own thunks for returns and indirect jumps, so objtool, which would
# look for them in all objects, must not read the module.
KBUILD = """obj-m := {name}.o
{name}-y := parts/positioned.o parts/leave.o parts/copies.o
ccflags-y += -mfunction-return=keep -mindirect-branch=keep
OBJECT_FILES_NON_STANDARD := y
"""


def build(name: str, image: Image, layout: Layout, release: str) -> Built:
    """The module of this name."""
    with tempfile.TemporaryDirectory(prefix="kadence-positioned-") as place_of_build:
        folder = Path(place_of_build)
        parts = resources.home() / "kadapt/live/positioned"
        shutil.copytree(parts, folder / "parts")
        (folder / "parts/copies.S").write_text(_source(image, layout))
        (folder / "Kbuild").write_text(KBUILD.format(name=name))
        headers = debian.kernel_headers(release)
        make(headers, folder, f"the code of {name}")
        module = Module((folder / f"{name}.ko").read_bytes())
    unknown = set(module.undefined().values()) - exported(headers)
    symbols = symbols_of(release)
    places = {each: place(each, symbols) for each in sorted(unknown)}
    replaced = [layout.functions[each].name for each in layout.entries]
    return Built(module.resolve(places), replaced, sorted(places))


def _source(image: Image, layout: Layout) -> str:
    assembly = Assembly(image, layout.functions)
    for address in layout.order:
        assembly.copy(layout.functions[address])
    entries = {
        traced: assembly.stub(layout.functions[address].head or 0)
        for address, traced in layout.entries.items()
    }
    return assembly.source(entries)
