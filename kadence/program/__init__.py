# SPDX-License-Identifier: GPL-2.0-or-later
"""A program: its kadence.toml, its inputs, builds, outputs and their filters."""
