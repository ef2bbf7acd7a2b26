# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence specialize`: all stages, from a program's source to its report."""
