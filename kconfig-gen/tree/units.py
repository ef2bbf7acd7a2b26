# SPDX-License-Identifier: GPL-2.0-or-later
"""Units in a kernel tree: their sources, and what lets a build plant places for them."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from kadence.kadapt.live import source as unit_source

# Below the driver's folder.
FOLDER = "units"
# The build folder's file with flags for the objects in which it plants places.
PLANTED = "planted.mk"
# Kbuild reads this file in every folder, after the folder's own Makefile.
HOOKED = "scripts/Makefile.lib"
HOOK = f"-include {PLANTED}\n"
KBUILD = """# The units of this kernel.
ccflags-y += -I$(src)/include -I$(srctree)/{driver}
include $(srctree)/{driver}/{folder}/include/kadence/unit.mk
obj-y += {objects}
"""


def add(tree: Path, driver: Path, sources: Sequence[Path]) -> None:
    """Put the sources below the driver's folder in the tree."""
    folder = tree / driver / FOLDER
    for file in unit_source.FILES:
        destination = folder / "include" / file
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(unit_source.include() / file, destination)
    for path in sources:
        shutil.copyfile(path, folder / path.name)
    objects = " ".join(f"{path.stem}.o" for path in sources)
    (folder / "Kbuild").write_text(KBUILD.format(driver=driver, folder=FOLDER, objects=objects))
