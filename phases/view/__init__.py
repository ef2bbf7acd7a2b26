# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows the phases of a run to a person: as a page, a figure for a paper, or a trace."""
