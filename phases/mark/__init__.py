# SPDX-License-Identifier: GPL-2.0-or-later
"""Markers: the places in the code that announce phases."""
