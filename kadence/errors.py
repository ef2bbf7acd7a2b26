# SPDX-License-Identifier: GPL-2.0-or-later
"""Every error a user can cause or meet; `cli.main` catches them in one place.

The message is one sentence: what is wrong, where, and what to do.
"""


class KadenceError(Exception):
    """An error to be told to the user in one sentence."""

    exit_status = 1


class UsageError(KadenceError):
    """The command line makes no sense."""


class ArtefactError(KadenceError):
    """An artefact is damaged, of an unknown schema or version, or does not belong here."""


class PlanError(KadenceError):
    """A plan would do harm, or good by accident only."""


class ToolError(KadenceError):
    """A program that Kadence drives is missing or failed."""


class BuildError(KadenceError):
    """A kernel could not be configured or built."""


class GuestError(KadenceError):
    """A guest kernel did not boot, panicked or hung.

    The status is distinct so that a caller can tell it from the command's own.
    """

    exit_status = 125
