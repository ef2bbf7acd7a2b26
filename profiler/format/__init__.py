# SPDX-License-Identifier: GPL-2.0-or-later
"""The bytes of a profile, and what is true of every profile."""
