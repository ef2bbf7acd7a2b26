# SPDX-License-Identifier: GPL-2.0-or-later
"""Phases of one program on two inputs."""
