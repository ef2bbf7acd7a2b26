# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the bundles of bench/slurm/slurm.py: a generic kernel and a one-line program."""

import subprocess
from pathlib import Path

from kadence.kconfig.store.build import BuildRequest, build
from kadence.slurm import bundle, keys
from kadence.slurm.bundle import BuiltProgram, Configuration, Contents, Kernel

SOURCE = "int main(void) {{ return {number} & 0; }}\n"


class Workshop:
    """A folder of different bundles, with the key that signed them."""

    def __init__(self, place: Path, count: int) -> None:
        self.place = place
        place.mkdir()
        keys.make(place / "key")
        kernel = build(BuildRequest(kind="generic"))
        release = str(kernel.manifest["release"])
        self.kernel = Kernel(kernel.image, kernel.id, release)
        (place / "plan.json").write_text('{"schema": "kadence.plan"}\n')
        self.bundles = [self._make(number) for number in range(count)]

    @property
    def public_key(self) -> Path:
        return self.place / "key.pub"

    def _make(self, number: int) -> Path:
        program = self.place / str(number) / "program"
        program.parent.mkdir()
        words = ["gcc-12", "-x", "c", "-Wl,--build-id", "-o", program, "-"]
        subprocess.run(words, input=SOURCE.format(number=number), text=True, check=True)
        path = self.place / f"{number}.kbundle"
        contents = Contents(
            name=f"bundle{number}",
            programs=[BuiltProgram(program, ())],
            plan=self.place / "plan.json",
            kernels={"um": self.kernel},
            configurations={"um": Configuration(b"{}\n", self.kernel.id)},
        )
        bundle.write(path, contents, keys.load_private(self.place / "key"))
        return path
