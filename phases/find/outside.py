# SPDX-License-Identifier: GPL-2.0-or-later
"""Which intervals are in no phase, and why.

A plan is made for phases. If many intervals are in none, the plan covers only a part of the run,
and the user must hear that first.
"""

from typing import Any

from kadence.phases.find.segmentation import MOST_OUTSIDE, Segmentation
from kadence.profiler.format.profile import Profile

DIGITS = 6


def described(profile: Profile, segmentation: Segmentation) -> dict[str, Any]:
    """How many intervals with instructions are in no phase; `why` only if they are many.

    Waiting intervals are not counted here; the artefact lists them separately.
    """
    looked_at = (profile.instructions > 0) & ~segmentation.waiting
    outside = looked_at & segmentation.transition
    count, of = int(outside.sum()), max(int(looked_at.sum()), 1)
    unlike = int((outside & segmentation.unlike).sum())
    share = count / of
    return {
        "intervals": count,
        "share": round(share, DIGITS),
        "mixtures": count - unlike,
        "unlike": unlike,
        "why": _why(count, of, unlike) if share > MOST_OUTSIDE else None,
    }


def _why(count: int, of: int, unlike: int) -> str:
    found = []
    if unlike:
        found.append(f"{unlike} with at most half in common with each, too few of a kind to be one")
    if count > unlike:
        found.append(f"{count - unlike} that mix the phases before and after")
    return (
        f"{count} of {of} intervals ({count / of:.1%}) are in no phase: {', and '.join(found)}; "
        "try a shorter --interval or a longer run"
    )
