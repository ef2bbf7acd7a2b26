# SPDX-License-Identifier: GPL-2.0-or-later
"""One profile from the profiles of several processes."""
