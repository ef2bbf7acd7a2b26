# SPDX-License-Identifier: GPL-2.0-or-later
"""The release of GCC with which the plugin is tested.

It is that of the wrappers' own compiler, or the one that KADENCE_TEST_GCC names.
"""

import os
import subprocess

from kadence.base.resources import built

NAMED = os.environ.get("KADENCE_TEST_GCC", "")


def _release_of_wrapper() -> str:
    plain = {name: value for name, value in os.environ.items() if name != "KADENCE_CC"}
    command = [built("bin/kadence-cc"), "-dumpversion"]
    told = subprocess.run(command, env=plain, capture_output=True, text=True, check=True)
    return told.stdout.strip().partition(".")[0]


RELEASE = NAMED or _release_of_wrapper()
GCC, GXX, GFORTRAN = (f"{name}-{RELEASE}" for name in ("gcc", "g++", "gfortran"))
PLUGIN = built(f"gccplugin/{RELEASE}/kadence.so")

# The wrappers take them from the environment.
if NAMED:
    os.environ |= {"KADENCE_CC": GCC, "KADENCE_CXX": GXX, "KADENCE_FC": GFORTRAN}
