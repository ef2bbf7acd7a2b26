# SPDX-License-Identifier: GPL-2.0-or-later
"""Batch jobs that bring their kernel: bundles, the jobs' steps, and reports of their gains."""
