# SPDX-License-Identifier: GPL-2.0-or-later
"""The version that artefacts and `kadence --version` name."""

VERSION = "0.1.0"
