# SPDX-License-Identifier: GPL-2.0-or-later
"""Phases from vectors: clustering, segmentation, their hierarchy."""
