# SPDX-License-Identifier: GPL-2.0-or-later
"""Where everything of one program lies."""

from dataclasses import dataclass
from pathlib import Path

from kadence.errors import UsageError
from kadence.stages import Stages


@dataclass(frozen=True)
class Places:
    """Where everything of one program lies, below one output directory."""

    output: Path
    name: str

    @property
    def source(self) -> Path:
        return self.output / "source"

    def build(self, mode: str) -> Path:
        """The built copy of one mode."""
        return self.output / mode

    @property
    def plain_runs(self) -> Path:
        """What the plain program wrote on the machine's own kernel."""
        return self.output / "plain-runs"

    def log(self, name: str) -> Path:
        """What a command of kadence.toml said."""
        return self.output / "logs" / f"{name}.log"

    def artefact(self, suffix: str) -> Path:
        """`<name>.<suffix>`."""
        return self.output / f"{self.name}.{suffix}"


def claim(output: Path, folder: Path) -> None:
    """Refuse an output folder in which something of the user's could be overwritten."""
    if output == folder:
        raise UsageError(f"{output} is the program's own folder; choose another place with -o")
    if output.exists() and not output.is_dir():
        raise UsageError(f"{output} is not a folder; choose another place with -o")
    if output.exists() and any(output.iterdir()) and not Stages.are_in(output):
        raise UsageError(
            f"{output} holds what is not ours; choose a new or an empty folder with -o"
        )
