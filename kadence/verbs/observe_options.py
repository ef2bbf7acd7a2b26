# SPDX-License-Identifier: GPL-2.0-or-later
"""What all ways of `kadence observe` require of their options."""

import argparse

from kadence.base.errors import UsageError


def check(options: argparse.Namespace) -> list[str]:
    """Raise UsageError if the options ask for nothing; return the patterns of functions."""
    if options.timeout is not None and not options.timeout > 0:
        raise UsageError(f"{options.timeout:g} seconds are too few; give --timeout more than 0")
    if options.top < 0:
        raise UsageError(f"--top {options.top} shows nothing; give 0 for all functions")
    if options.output and not options.output.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {options.output.parent}; choose another with -o")
    patterns = [pattern for pattern in options.functions.split(",") if pattern]
    if not patterns:
        raise UsageError("--functions names no function; give patterns such as 'vfs_*,tcp_*'")
    return patterns
