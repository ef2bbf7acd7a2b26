# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions counted and timed inside the kernel, by task and phase."""
