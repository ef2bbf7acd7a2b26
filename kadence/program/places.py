# SPDX-License-Identifier: GPL-2.0-or-later
"""The paths of all files that belong to one program."""

from dataclasses import dataclass
from pathlib import Path

from kadence.base.errors import UsageError
from kadence.base.stages import Stages


@dataclass(frozen=True)
class Places:
    """The paths of all files that belong to one program, below one output directory."""

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
        """The outputs of the plain program on the machine's own kernel."""
        return self.output / "plain-runs"

    def log(self, name: str) -> Path:
        """The output of a command of kadence.toml."""
        return self.output / "logs" / f"{name}.log"

    def artefact(self, suffix: str) -> Path:
        """`<name>.<suffix>`."""
        return self.output / f"{self.name}.{suffix}"


def claim(output: Path, folder: Path) -> None:
    """Refuse an output folder in which Kadence could overwrite the user's own files."""
    if output == folder:
        raise UsageError(f"{output} is the program's own folder; choose another place with -o")
    if output.exists() and not output.is_dir():
        raise UsageError(f"{output} is not a folder; choose another place with -o")
    if output.exists() and any(output.iterdir()) and not Stages.are_in(output):
        raise UsageError(
            f"{output} holds files that are not Kadence's; choose a new or an empty folder with -o"
        )
