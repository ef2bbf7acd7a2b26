# SPDX-License-Identifier: GPL-2.0-or-later
"""What kinds of markers there are, and when one is good enough to be used."""

FUNCTION_ENTRY = "function_entry"
LOOP_PREHEADER = "loop_preheader"

ANNOUNCED_AT_LEAST = 0.8
FALSE_AT_MOST = 0.25
INTRUDES_AT_MOST = 0.25


def acceptable(announced: float, false: float, intrudes: float) -> bool:
    """Whether a marker announces its phase, and little else."""
    return (
        announced >= ANNOUNCED_AT_LEAST and false <= FALSE_AT_MOST and intrudes <= INTRUDES_AT_MOST
    )
