# SPDX-License-Identifier: GPL-2.0-or-later
"""What a kernel is asked for: request, series, target."""
