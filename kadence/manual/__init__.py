# SPDX-License-Identifier: GPL-2.0-or-later
"""Manual pages and completions of shells, from the declarations that `--help` prints."""
