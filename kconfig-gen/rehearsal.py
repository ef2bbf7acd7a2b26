# SPDX-License-Identifier: GPL-2.0-or-later
"""How many files a build will compile, before it does.

The last kernel of the same kind and target says about how many. Where there is none yet, Kbuild is
asked what it would do (make -n): 4 s of processor time for a generic User-Mode Linux kernel, and
915 files of the 921 that it then compiles.
"""

import re
from pathlib import Path

from kadence import artefact
from kadence.errors import KadenceError
from kadence.kconfig import commands, store
from kadence.kconfig.configure import make
from kadence.kconfig.identity import Inputs

# What a recipe says before it compiles; make -n prints the recipe.
WOULD_COMPILE = re.compile(r"""echo\s+['"]\s+(?:CC|AS)\s""")
# Files that a later step takes for granted; without them make would not go on to it.
STAND_INS = ("vmlinux.a", "vmlinux.o", "vmlinux", "scripts/mod/modpost")
KERNELS_LOOKED_AT = 20


def files_to_compile(inputs: Inputs, tree: Path, folder: Path) -> tuple[int, bool]:
    """The number for a configured build folder, and whether it is exact; 0 if nobody knows."""
    remembered = _remembered(inputs)
    return (remembered, False) if remembered else (_rehearsed(inputs, tree, folder), True)


def _remembered(inputs: Inputs) -> int:
    """What the last kernel like this one took."""
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
    """What make would compile; that it can't rehearse the last step to its end is no matter."""
    found = 0

    def take(line: str) -> None:
        nonlocal found
        found += WOULD_COMPILE.search(line) is not None

    stand_ins = [folder / name for name in STAND_INS]
    for path in stand_ins:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    commands.listen(make(inputs, folder, "-n", inputs.target.image_goal), tree, take)
    for path in stand_ins:
        path.unlink(missing_ok=True)
    return found
