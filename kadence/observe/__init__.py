# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest's kernel does while it runs a command. docs/observe.md."""
