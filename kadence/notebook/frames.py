# SPDX-License-Identifier: GPL-2.0-or-later
"""Data frames, made by pandas if it is there."""

from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kadence.base.errors import ToolError

if TYPE_CHECKING:
    import pandas


def of_columns(columns: Mapping[str, Any]) -> "pandas.DataFrame":
    """A data frame of columns of one length."""
    frame: pandas.DataFrame = _pandas().DataFrame(dict(columns))
    return frame


def of_rows(rows: Iterable[Sequence[Any]], names: Sequence[str]) -> "pandas.DataFrame":
    """A data frame of rows; one without rows has the columns, too."""
    frame: pandas.DataFrame = _pandas().DataFrame(list(rows), columns=list(names))
    return frame


def _pandas() -> ModuleType:
    try:
        import pandas
    except ImportError as error:
        raise ToolError("data frames need pandas; install it: pip install pandas") from error
    return pandas
