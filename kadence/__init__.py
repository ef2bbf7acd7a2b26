# SPDX-License-Identifier: GPL-2.0-or-later
"""Kadence makes a Linux kernel fit one batch job."""
