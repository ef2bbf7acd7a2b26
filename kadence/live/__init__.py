# SPDX-License-Identifier: GPL-2.0-or-later
"""Units of the running kernel: built for a kernel, installed and removed."""
