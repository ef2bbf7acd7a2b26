# SPDX-License-Identifier: GPL-2.0-or-later
"""The stream that a profiled program writes."""
