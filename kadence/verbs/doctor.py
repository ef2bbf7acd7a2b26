# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence doctor`: report what is missing on this machine, and start a guest of each target."""

import argparse

from kadence import doctor
from kadence.base import printing
from kadence.base.finding import Finding


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the option that forbids building a kernel."""
    printing.add_json(parser)
    parser.add_argument(
        "--no-build",
        action="store_true",
        help="do not build a minimal kernel to start a guest with if there is no kernel yet",
    )


def execute(options: argparse.Namespace) -> int:
    """Print a line for each finding; return 1 if something is missing."""
    findings = []
    for finding in doctor.examine(build=not options.no_build):
        findings.append(finding)
        if not options.json:
            _say(finding)
    if options.json:
        printing.document(findings)
    else:
        print(_verdict(findings))
    return 1 if any(not finding.present for finding in findings) else 0


def _say(finding: Finding) -> None:
    print(f"{_mark(finding)}  {finding.subject}  ({finding.why})")
    if finding.remedy:
        print(f"         do: {finding.remedy}", flush=True)


def _mark(finding: Finding) -> str:
    if not finding.present:
        return "MISSING"
    return "ok     " if finding.tried else "untried"


def _verdict(findings: list[Finding]) -> str:
    missing = sum(not finding.present for finding in findings)
    untried = sum(not finding.tried for finding in findings)
    said = f"{missing} missing." if missing else "Nothing is missing."
    return f"{said} {untried} not tried." if untried else said
