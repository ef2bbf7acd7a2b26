# SPDX-License-Identifier: GPL-2.0-or-later
"""What phases do: their calls, memory, places in the source, and needs."""
