# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies of a running kernel's hot machine code, packed into one module."""
