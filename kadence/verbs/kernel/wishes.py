# SPDX-License-Identifier: GPL-2.0-or-later
"""Options for a kernel that several verbs have in common."""

import argparse
from pathlib import Path

from kadence.base.errors import UsageError
from kadence.kconfig.request import series, targets


def add(parser: argparse.ArgumentParser) -> None:
    """Declare `target`, `series`, `trace`, `mitigations` and `overrides`."""
    parser.add_argument("--target", default=targets.DEFAULT, help="where the kernel runs")
    add_series(parser)
    parser.add_argument("--trace", type=Path, metavar="P.ktrace.json", help="kernel code that ran")
    parser.add_argument(
        "--mitigations",
        action="store_true",
        help="keep the mitigations that protect from other users of the machine",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=_override,
        dest="overrides",
        metavar="SYMBOL=VALUE",
        help="set a symbol, whatever the rules say (may be repeated)",
    )


def add_series(parser: argparse.ArgumentParser) -> None:
    """Declare only `series`, for verbs that declare the other options themselves."""
    parser.add_argument(
        "--series",
        default=series.DEFAULT,
        metavar="SERIES",
        help=f"kernel series: {', '.join(series.known())} (%(default)s)",
    )


def add_layout(parser: argparse.ArgumentParser) -> None:
    """Declare `layout`, for verbs that build tailored kernels."""
    parser.add_argument(
        "--layout",
        type=Path,
        metavar="P.kcounts.json",
        help="lay its code out by these counts of `kadence kernel trace --counts`",
    )


def _override(text: str) -> tuple[str, str]:
    symbol, equals, value = text.removeprefix("CONFIG_").partition("=")
    if not (symbol and equals and value):
        raise UsageError(f"--set {text!r} is not of the form SYMBOL=VALUE, such as FUTEX=y")
    return symbol, value
