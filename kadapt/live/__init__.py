# SPDX-License-Identifier: GPL-2.0-or-later
"""Units of the running kernel: their symbols, and the object files that use them."""
