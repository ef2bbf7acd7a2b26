-- SPDX-License-Identifier: GPL-2.0-or-later
-- Kadence for Lmod: `module use PREFIX/share/modulefiles`, then `module load kadence`.
local prefix = myFileName():match("^(.*)/share/modulefiles/")

help("Kadence makes a Linux kernel fit one batch job. Begin with `kadence --help`.")
whatis("Name: Kadence")
whatis("Version: " .. myModuleVersion())
whatis("Description: profiles, adapts and runs programs on kernels that fit them")

prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
