# SPDX-License-Identifier: GPL-2.0-or-later
"""Bundles for the tests of Slurm, without profiling: a program that prints its name, a kernel.

The program writes its name where an adapted program would write its record of trials.

The faulty kernels are the real kernel, started with arguments that make it fail.
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
#include <stdlib.h>
#include <sys/utsname.h>
static void record_trial(void)
{
	const char *file = getenv("KADAPT_TRIALS_RECORD");
	FILE *record = file ? fopen(file, "a") : NULL;
	if (record) {
		fputs(WHO "\n", record);
		fclose(record);
	}
}
int main(int argc, char **argv)
{
	struct utsname name;
	uname(&name);
	record_trial();
	printf("%s on %s with", WHO, name.release);
	while (--argc)
		printf(" %s", *++argv);
	putchar('\n');
	return 0;
}
"""

# Arguments at the end of the kernel's command line, which override earlier ones.
NO_ROOT = "rootfstype=nothing"  # the kernel panics
NO_INIT = "init=/bin/sleep 100000"  # the kernel boots and never starts the command


class Bundles:
    """Makes bundles in a folder that all users can read."""

    def __init__(self, folder: Path, kernel: Any) -> None:
        self.folder = folder
        self.kernel = kernel
        self.release: str = kernel.manifest["release"]
        self.key = Ed25519PrivateKey.generate()
        # The kernel store may be in a folder that only root can enter.
        self.copy = Path(shutil.copy(kernel.image, folder / "image"))

    def trust(self, ring: Path) -> None:
        """Put the key into an administrator's key ring."""
        public = self.key.public_key()
        pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        (ring / "workshop.pub").write_bytes(pem)

    def program(self, folder: str, who: str) -> Path:
        """A program called `work` that prints `who`."""
        path = self.folder / folder / "work"
        path.parent.mkdir(exist_ok=True)
        command = ["gcc-12", "-Wl,--build-id", f'-DWHO="{who}"', "-x", "c", "-", "-o", path]
        subprocess.run(command, input=SOURCE, text=True, check=True)
        return path

    def image(self, arguments: str) -> Path:
        """A script that starts the kernel with more arguments."""
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
