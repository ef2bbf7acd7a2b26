# SPDX-License-Identifier: GPL-2.0-or-later
"""What Kadence found, as NumPy arrays and pandas data frames, for notebooks and scripts.

    import kadence
    profile = kadence.read_profile("heat.kprof")
    profile.intervals()    # a data frame: a row for each interval
    profile.distances()    # intervals x intervals: Manhattan distances, 0 to 2

Names of columns end with their unit (`_s`, `_ns`, `_bytes`, `_pages`), and counts and shares
have their words. A file that is damaged, or of another version of Kadence, raises
kadence.base.errors.ArtefactError with one sentence. Data frames need pandas, which Kadence itself
does not: pip install pandas.
"""

from kadence.notebook.phases import Phases, read_phases
from kadence.notebook.plan import Plan, read_plan
from kadence.notebook.profile import Profile, read_profile
from kadence.notebook.report import Report, read_report

__all__ = [
    "Phases",
    "Plan",
    "Profile",
    "Report",
    "read_phases",
    "read_plan",
    "read_profile",
    "read_report",
]
