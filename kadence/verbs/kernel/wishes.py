# SPDX-License-Identifier: GPL-2.0-or-later
"""Options that several verbs have: what a kernel is to be like."""

import argparse
from pathlib import Path

from kadence.errors import UsageError
from kadence.kconfig import series, targets


def add(parser: argparse.ArgumentParser) -> None:
    """`target`, `series`, `trace`, `mitigations` and `overrides`."""
    parser.add_argument("--target", default=targets.DEFAULT, help="what it is to run on")
    add_series(parser)
    parser.add_argument("--trace", type=Path, metavar="P.ktrace.json", help="what the program ran")
    parser.add_argument(
        "--mitigations",
        action="store_true",
        help="keep the defences against other users of the machine",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=_override,
        dest="overrides",
        metavar="SYMBOL=VALUE",
        help="a symbol above all rules (may be repeated)",
    )


def add_series(parser: argparse.ArgumentParser) -> None:
    """`series`, for who has a kernel's other words already."""
    parser.add_argument(
        "--series",
        default=series.DEFAULT,
        metavar="SERIES",
        help=f"kernel series: {', '.join(series.known())} (%(default)s)",
    )


def _override(text: str) -> tuple[str, str]:
    symbol, equals, value = text.removeprefix("CONFIG_").partition("=")
    if not (symbol and equals and value):
        raise UsageError(f"--set {text!r} is not of the form SYMBOL=VALUE, such as FUTEX=y")
    return symbol, value
