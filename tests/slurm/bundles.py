# SPDX-License-Identifier: GPL-2.0-or-later
"""Bundles for the tests of Slurm, without profiling: a program that says who it is, a kernel.

The faulty kernels are a real one that is started with what makes it fail.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from packing import noted_build_id

from kadence.slurm import bundle

SOURCE = r"""
#include <stdio.h>
#include <sys/utsname.h>
int main(int argc, char **argv)
{
	struct utsname name;
	uname(&name);
	printf("%s on %s with", WHO, name.release);
	while (--argc)
		printf(" %s", *++argv);
	putchar('\n');
	return 0;
}
"""

# What is added to the kernel's command line, and so wins over what was there before.
NO_ROOT = "rootfstype=nothing"  # it panics
NO_INIT = "init=/bin/sleep 100000"  # it boots and never starts the command


class Bundles:
    """Makes bundles in a folder that all users can read."""

    def __init__(self, folder: Path, kernel: Any) -> None:
        self.folder = folder
        self.kernel = kernel
        self.release: str = kernel.manifest["release"]
        self.key = Ed25519PrivateKey.generate()
        # The store may be where only root gets to.
        self.copy = Path(shutil.copy(kernel.image, folder / "image"))

    def trust(self, ring: Path) -> None:
        """Put the key into an administrator's key ring."""
        public = self.key.public_key()
        pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        (ring / "workshop.pub").write_bytes(pem)

    def program(self, folder: str, who: str) -> Path:
        """A program called `work` that says who it is."""
        path = self.folder / folder / "work"
        path.parent.mkdir(exist_ok=True)
        command = ["gcc-12", "-Wl,--build-id", f'-DWHO="{who}"', "-x", "c", "-", "-o", path]
        subprocess.run(command, input=SOURCE, text=True, check=True)
        return path

    def image(self, arguments: str) -> Path:
        """The kernel, started with more on its command line."""
        handle, name = tempfile.mkstemp(dir=self.folder)
        path = Path(name)
        with os.fdopen(handle, "w") as script:
            script.write(f'#!/bin/sh\nexec {self.copy} "$@" {arguments}\n')
        path.chmod(0o755)
        return path

    def bundle(self, name: str = "work", **options: Any) -> Path:
        """A bundle of `work`; options: arguments (of the kernel), key, architecture, measured."""
        plain, adapted = self.program("plain", "plain"), self.program("adapted", "adapted")
        arguments = options.pop("arguments", None)
        image = self.kernel.image if arguments is None else self.image(arguments)
        key = options.pop("key", self.key)
        plan = self.folder / "plan.json"
        plan.write_text("{}\n")
        path = self.folder / f"{name}{bundle.SUFFIX}"
        contents = bundle.Contents(
            name=name,
            programs=[bundle.BuiltProgram(adapted, (noted_build_id(plain),))],
            plan=plan,
            kernels={"um": bundle.Kernel(image, self.kernel.id, self.release)},
            **options,
        )
        bundle.write(path, contents, key)
        path.chmod(0o644)
        return path
