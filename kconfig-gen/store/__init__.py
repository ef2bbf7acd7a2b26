# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels: built, kept, found again."""
