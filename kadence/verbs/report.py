# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence report`: report what a batch job gained from its kernel."""

import argparse
from pathlib import Path

from kadence.base import printing
from kadence.slurm import job_report, records, site


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the job and its records."""
    parser.add_argument("--job", metavar="ID", required=True, help="the job's number")
    parser.add_argument("--records", type=Path, metavar="DIR", help="default: the site's")
    parser.add_argument(
        "--site", type=Path, default=site.DEFAULT, help="the administrator's file (%(default)s)"
    )
    printing.add_json(parser)


def execute(options: argparse.Namespace) -> int:
    """Print the report."""
    folder = options.records or site.read(options.site).records
    job = records.read(options.job, folder)
    if options.json:
        printing.document(job_report.document(job))
    else:
        print(job_report.text(job))
    return 0
