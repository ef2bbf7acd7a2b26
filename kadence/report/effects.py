# SPDX-License-Identifier: GPL-2.0-or-later
"""The picture of trials: for each policy of a phase its effect, with whiskers, beside a zero line.

The unit is that of a view box as wide as a telephone. Outcomes differ by shape, colour and words.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kadence.trials import findings

WIDTH, MARGIN = 360, 12
# Heights: of a row with an effect and one without, of a second line below, and of the axis.
ROW, BARE_ROW, NOTE, AXIS = 66, 24, 17, 46
MIDDLE = 32  # of a row's whisker
TICKS = 4  # at most, on both sides together
LEAST_EXTENT = 0.5  # percent
# Whiskers that are much longer than all effects are cut, and end in an arrow.
LONGEST_WHISKER = 3.0
# A marker's share of the extent beyond the outermost effect.
ROOM = 1.2

Body = Mapping[str, Any]


def picture(arms: Sequence[Body]) -> dict[str, Any]:
    """The positions of all that is drawn: what has an effect, then the axis, then the rest."""
    extent = _extent(arms)
    known = [arm for arm in arms if _percents(arm)]
    rows, bottom = _rows(known, 0, extent)
    axis = AXIS if known else 0
    bare, height = _rows([arm for arm in arms if not _percents(arm)], bottom + axis, extent)
    return {
        "width": WIDTH,
        "height": height,
        "axis": bottom if known else None,
        "zero": _position(0.0, extent),
        "ticks": [
            {"x": _position(value, extent), "label": _label(value)} for value in _ticks(extent)
        ],
        "rows": rows + bare,
    }


def _rows(arms: Sequence[Body], top: int, extent: float) -> tuple[list[dict[str, Any]], int]:
    """The rows below each other, and where they end."""
    rows = []
    for arm in arms:
        rows.append(_row(arm, top, extent))
        top += rows[-1]["height"]
    return rows, top


def _percents(arm: Body) -> tuple[float, float, float] | None:
    """The change of time with its interval; None if it is not known."""
    if arm["effect"] is None:
        return None
    value, low, high = (findings.percent(arm[key]) for key in ("effect", "low", "high"))
    return value, low, high


def _extent(arms: Sequence[Body]) -> float:
    """The percentage at either end of the axis."""
    known = [percents for arm in arms if (percents := _percents(arm))]
    most = max((abs(value) for value, _, _ in known), default=0.0)
    most = max(most, LEAST_EXTENT)
    whisker = max((max(abs(low), abs(high)) for _, low, high in known), default=0.0)
    return max(ROOM * most, min(ROOM * whisker, LONGEST_WHISKER * most))


def _position(percent: float, extent: float) -> float:
    half = WIDTH / 2 - MARGIN
    return round(WIDTH / 2 + half * max(-1.0, min(1.0, percent / extent)), 1)


def _row(arm: Body, top: int, extent: float) -> dict[str, Any]:
    percents = _percents(arm)
    height = BARE_ROW if percents is None else ROW
    row = {
        "top": top,
        "y": top + MIDDLE,
        "name": findings.name_of(arm["policy"], arm["level"], arm["phase"]),
        "says": arm["says"],
        "why": arm["why"],
        "outcome": arm["outcome"],
        "height": height + (NOTE if arm["why"] else 0),
        "below": top + height + 8,
        "known": percents is not None,
        "counts": f"{_counted(arm['blocks'], 'block')}, {_counted(arm['visits'], 'visit')}",
    }
    if percents is None:
        return row
    value, low, high = percents
    return row | {
        "value": _position(value, extent),
        "low": _position(low, extent),
        "high": _position(high, extent),
        "low_is_cut": low < -extent,
        "high_is_cut": high > extent,
        "figures": f"{_signed(value)} % ({_signed(low)} to {_signed(high)} %)",
    }


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def _signed(percent: float) -> str:
    """With a true minus, as wide as the plus."""
    return f"{percent:+.1f}".replace("-", "\N{MINUS SIGN}")


def _ticks(extent: float) -> list[float]:
    step = _step(extent)
    count = int(extent / step)
    return [number * step for number in range(-count, count + 1)]


def _step(extent: float) -> float:
    """A step of 1, 2 or 5 times a power of ten, for at most TICKS ticks beside zero."""
    unit = 0.01
    while True:
        for factor in (1, 2, 5):
            if 2 * int(extent / (unit * factor)) <= TICKS:
                return unit * factor
        unit *= 10


def _label(value: float) -> str:
    return "0" if value == 0 else f"{value:+g} %".replace("-", "\N{MINUS SIGN}")
