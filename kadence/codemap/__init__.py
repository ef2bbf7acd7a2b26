# SPDX-License-Identifier: GPL-2.0-or-later
"""The map of a kernel's code in a cache of instructions: `kadence view P.kcounts.json`."""
