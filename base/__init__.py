# SPDX-License-Identifier: GPL-2.0-or-later
"""What every stage uses: artefacts, errors, resources, stages, statistics, ELF and terminals."""
