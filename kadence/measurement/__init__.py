# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of a program, and what they measure."""
