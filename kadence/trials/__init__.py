# SPDX-License-Identifier: GPL-2.0-or-later
"""What adapted programs found out about their policies: records, effects, learning."""
