# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs of a batch scheduler that bring their kernel: bundles, their steps, and what they gained."""
