# SPDX-License-Identifier: GPL-2.0-only
# Kbuild's flags for units, in modules and in kernels.
# unit.h marks where the unit's code and its replacements begin and end.
ccflags-y += -fno-toplevel-reorder -fno-reorder-functions -fno-reorder-blocks-and-partition
ccflags-y += -fno-function-sections -fno-data-sections
# A variant stays on the stack while the original that it calls runs, so that removal sees it.
ccflags-y += -fno-optimize-sibling-calls
