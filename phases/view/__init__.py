# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows the phases of a run to a person: a page, a picture for a paper, a trace."""
