# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts the files that a build will compile, before the build.

The last kernel of the same kind, target and series gives an approximate number. If there is none,
`make -n` lists what Kbuild would do. For a generic User-Mode Linux kernel that takes 4 s of
processor time and finds 915 of the 921 files that Kbuild then compiles, for a tailored x86_64
kernel 848 of 885.
"""

import re
from pathlib import Path

from kadence.base import artefact
from kadence.base.errors import KadenceError
from kadence.kconfig.configuration.configure import make
from kadence.kconfig.configuration.identity import Inputs
from kadence.kconfig.store import store
from kadence.kconfig.tree import commands

# The echo in a recipe that compiles; make -n prints the recipe.
WOULD_COMPILE = re.compile(r"""echo\s+['"]\s+(?:CC|AS)\s""")
# Files and folders that later steps depend on; without them `make -n` would stop early.
STAND_INS = ("vmlinux.a", "vmlinux.o", "vmlinux", "scripts/mod/modpost")
FOLDERS = ("tools/objtool/libsubcmd",)
KERNELS_LOOKED_AT = 20


def files_to_compile(inputs: Inputs, tree: Path, folder: Path) -> tuple[int, bool]:
    """The number for a configured build folder (0: unknown), and whether it is exact."""
    remembered = _remembered(inputs)
    return (remembered, False) if remembered else (_rehearsed(inputs, tree, folder), True)


def _remembered(inputs: Inputs) -> int:
    """The number of files of the last kernel of this kind, target and series; 0 if unknown."""
    wanted = (inputs.request.kind, inputs.target.name, inputs.origin.series)
    for identifier in store.identifiers()[:KERNELS_LOOKED_AT]:
        try:
            known = artefact.read(store.path_of(identifier) / store.MANIFEST, artefact.KERNEL)
        except KadenceError:
            continue
        if (known.get("kind"), known.get("target"), known.get("series")) == wanted:
            return int(known.get("files_compiled", 0))
    return 0


def _rehearsed(inputs: Inputs, tree: Path, folder: Path) -> int:
    """Count what make would compile. Its status does not matter: the last step may fail."""
    found = 0

    def take(line: str) -> None:
        nonlocal found
        found += WOULD_COMPILE.search(line) is not None

    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    stand_ins = [folder / name for name in STAND_INS]
    for path in stand_ins:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    commands.listen(make(inputs, folder, "-n", inputs.target.image_goal), tree, take)
    for path in stand_ins:
        path.unlink(missing_ok=True)
    return found
