# SPDX-License-Identifier: GPL-2.0-or-later
"""The map of a kernel's and a program's code in a cache: `kadence view P.kcounts.json`."""
