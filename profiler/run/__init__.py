# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of programs under a profiler."""
