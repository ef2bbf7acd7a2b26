# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel made to fit a program: tailored, proven, repaired."""
