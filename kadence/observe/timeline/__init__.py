# SPDX-License-Identifier: GPL-2.0-or-later
"""What a command's tasks did, on one timeline: docs/observe-timeline.md."""
