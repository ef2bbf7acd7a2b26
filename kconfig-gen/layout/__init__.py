# SPDX-License-Identifier: GPL-2.0-or-later
"""Lays out a kernel's code by how often it ran: counts for GCC, and an order for the linker."""
