# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence doctor`: say what is missing on this machine."""

import argparse

from kadence import doctor


def configure(parser: argparse.ArgumentParser) -> None:
    """Nothing to choose."""


def execute(options: argparse.Namespace) -> int:
    """Print a line a finding; 1 where something is missing."""
    findings = list(doctor.examine())
    for finding in findings:
        print(f"{'ok     ' if finding.present else 'MISSING'}  {finding.subject}  ({finding.why})")
        if finding.remedy:
            print(f"         do: {finding.remedy}")
    missing = sum(not finding.present for finding in findings)
    print("Nothing is missing." if not missing else f"{missing} missing.")
    return 1 if missing else 0
