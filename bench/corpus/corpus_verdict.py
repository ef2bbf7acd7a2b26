# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges from the figures of corpus_own.py whether adapting slowed a program down."""

from collections.abc import Mapping
from typing import Any


def slower(own: Mapping[str, Any]) -> bool:
    """Whether adapted is slower than plain by more than plain is slower than itself."""
    if not own:
        return False
    adapted, again = own["adapted"], own["again"]
    return bool(adapted["low"] > 1.0 and adapted["value"] > again["high"])


def is_placement(own: Mapping[str, Any]) -> bool:
    """Whether moving the plain program's code costs as much as the adaptation."""
    highest = max((each["high"] for each in own.get("moved", {}).values()), default=0.0)
    return bool(own["adapted"]["value"] <= highest)
