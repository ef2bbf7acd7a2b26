# SPDX-License-Identifier: GPL-2.0-or-later
"""Every error that a user can cause or meet; `cli.main` catches them all.

The message is one sentence: what is wrong, where, and what to do.
"""


class KadenceError(Exception):
    """An error that is reported to the user in one sentence."""

    exit_status = 1

    @property
    def reason(self) -> str:
        """What went wrong, for a record that outlives this run."""
        return str(self)


class UsageError(KadenceError):
    """The command line is invalid."""


class ArtefactError(KadenceError):
    """An artefact is damaged, of an unknown schema or version, or does not belong here."""


class ProgramError(KadenceError):
    """A kadence.toml is missing or invalid."""


class ToolError(KadenceError):
    """A program that Kadence drives is missing or failed."""


class BuildError(KadenceError):
    """A kernel could not be configured or built."""


class GuestError(KadenceError):
    """A guest kernel did not boot, panicked or hung.

    The exit status is distinct, so that a caller can tell it from the command's own. A caller may
    run the command again only if the command was not started.
    """

    exit_status = 125

    def __init__(
        self,
        message: str,
        *,
        command_started: bool = True,
        interrupted_by: int | None = None,
        log: str = "",
        log_place: str = "",
    ) -> None:
        super().__init__(f"{message}; {log_place}" if log_place else message)
        self._reason = message
        self.log = log  # the guest kernel's
        self.command_started = command_started
        self.interrupted_by = interrupted_by  # signal that arrived before the command started

    @property
    def reason(self) -> str:
        """The message without the place of the guest's log, which is kept only for a while."""
        return self._reason
