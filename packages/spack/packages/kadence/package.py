# SPDX-License-Identifier: GPL-2.0-or-later
"""The recipe for Spack: `spack dev-build kadence@0.1.0`. Not tried; see docs/systems.md."""

from spack.package import Package, depends_on, license, version


class Kadence(Package):
    """Makes a Linux kernel fit one batch job: profiles, adapts and runs programs."""

    license("GPL-2.0-or-later")

    version("0.1.0")

    # Compilers and GCC's headers for plugins are Debian's: kernels, the profiler and the plugin
    # depend on their exact releases (docs/systems.md).
    depends_on("gmake", type="build")

    def install(self, spec, prefix):
        """Everything below the prefix; no file names it."""
        make = self.module.make
        make("install", f"PREFIX={prefix}")
