# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of `kadence specialize`."""
