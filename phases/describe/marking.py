# SPDX-License-Identifier: GPL-2.0-or-later
"""The kinds of markers, and when a marker is good enough to be used."""

FUNCTION_ENTRY = "function_entry"
LOOP_PREHEADER = "loop_preheader"

ANNOUNCED_AT_LEAST = 0.95
FALSE_AT_MOST = 0.05
INTRUDES_AT_MOST = 0.25

# The assumed speed of a processor, and how often markers may fire on it.
INSTRUCTIONS_PER_SECOND = 1e9
FIRINGS_PER_SECOND = 1000.0


def acceptable(announced: float, false: float, intrudes: float) -> bool:
    """Whether a marker announces its phase, and little else."""
    return (
        announced >= ANNOUNCED_AT_LEAST and false <= FALSE_AT_MOST and intrudes <= INTRUDES_AT_MOST
    )


def firings_per_second(fires: int, instructions: int) -> float:
    """How often a marker fires per second, in a run of that many instructions."""
    return fires * INSTRUCTIONS_PER_SECOND / instructions


def affordable(fires: int, instructions: int) -> bool:
    """Whether a marker stays within the budget."""
    return firings_per_second(fires, instructions) <= FIRINGS_PER_SECOND
