# SPDX-License-Identifier: GPL-2.0-or-later
"""What a plan adapts in each phase, and why."""
