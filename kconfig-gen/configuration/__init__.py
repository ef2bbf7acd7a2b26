# SPDX-License-Identifier: GPL-2.0-or-later
"""A configuration from rules: made, explained, checked."""
